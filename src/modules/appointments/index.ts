export {
  cancelAppointment,
  createAppointment,
  deleteAppointment,
  eraseAppointments,
  jobCardChanged,
  updateAppointment,
} from './commands.ts';
export type { NewAppointment } from './contract.ts';
export { getAppointment, listAppointments } from './reads.ts';
