import { answer } from '#platform/http/answer.ts';
import { cancelAppointment, createAppointment, updateAppointment } from './commands.ts';
import * as contract from './contract.ts';
import { getAppointment, listAppointments } from './reads.ts';

export const appointmentRoutes = [
  answer(contract.listAppointments, (ctx, { query }) => listAppointments(ctx, query)),
  answer(contract.getAppointment, (ctx, { params }) => getAppointment(ctx, params.id)),
  answer(contract.createAppointment, (ctx, { body }) => createAppointment(ctx, body)),
  answer(contract.updateAppointment, (ctx, { params, body }) => updateAppointment(ctx, params.id, body)),
  answer(contract.cancelAppointment, (ctx, { params, body }) => cancelAppointment(ctx, params.id, body)),
];
