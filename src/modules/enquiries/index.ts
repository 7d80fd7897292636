export {
  addNote,
  appraisePartExchange,
  createEnquiry,
  deleteEnquiry,
  eraseEnquiries,
  moveForDeal,
  receiveOffered,
  updateEnquiry,
} from './commands.ts';
export type { NewEnquiry } from './contract.ts';
export { getEnquiry, listEnquiries } from './reads.ts';
