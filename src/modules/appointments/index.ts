export { cancelAppointment, createAppointment, deleteAppointment, eraseAppointments, updateAppointment } from './commands.ts';
export type { NewAppointment } from './contract.ts';
export { getAppointment, listAppointments } from './reads.ts';
