import { checkDealerCodes } from '#modules/reference/index.ts';
import type { Context } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import type { Page, Tombstone } from '#platform/contract.ts';
import { spansIn } from '#platform/dates.ts';
import { Refusal } from '#platform/errors.ts';
import { toTombstone } from '#platform/records.ts';
import type { Appointment, AppointmentListQuery } from './contract.ts';
import { pageOfAppointments, visibleAppointment } from './queries.ts';
import { appointmentView } from './view.ts';

/** A page of the appointments within the caller's reach. */
export async function listAppointments(ctx: Context, query: AppointmentListQuery): Promise<Page<Appointment | Tombstone>> {
  const show = appointmentView(readerOf(ctx));
  await checkDealerCodes(ctx, { type: 'appointment-types' }, query);
  const filters = spansIn(ctx.dealer.timeZone, query, ['starts']);
  return pageOfAppointments(ctx, filters, (row) => (row.deleted_at === null ? show(row) : toTombstone(row)));
}

/** One appointment, if it exists for this caller. */
export async function getAppointment(ctx: Context, id: string): Promise<Appointment> {
  const row = await visibleAppointment(ctx, id);
  if (!row) throw new Refusal('not_found');
  return appointmentView(readerOf(ctx))(row);
}
