export {
  collectVehicle,
  createJobCard,
  deleteJobCard,
  eraseJobCards,
  invoiceChanged,
  markInvoiced,
  updateJobCard,
} from './commands.ts';
export type { NewJobCard } from './contract.ts';
export { addJobLines, authoriseLines, changeJobLine, removeJobLine } from './lines.ts';
export { getJobCard, listJobCards } from './reads.ts';
