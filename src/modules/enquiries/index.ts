export { patchedContact } from './changes.ts';
export {
  addNote,
  appraisePartExchange,
  createEnquiry,
  deleteEnquiry,
  eraseEnquiries,
  moveForDeal,
  receiveOffered,
  updateEnquiry,
  withNumbers,
} from './commands.ts';
export type { NewEnquiry } from './contract.ts';
export { stampEnquiries } from './queries.ts';
export { getEnquiry, listEnquiries } from './reads.ts';
export { wrongContact } from './rules.ts';
