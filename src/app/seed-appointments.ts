import type { NewAppointment } from '#modules/appointments/index.ts';
import { cancelAppointment, createAppointment, updateAppointment } from '#modules/appointments/index.ts';
import type { Enquiry } from '#modules/enquiries/contract.ts';
import { enquiryListQuery } from '#modules/enquiries/contract.ts';
import { listEnquiries } from '#modules/enquiries/index.ts';
import type { Context } from '#platform/context.ts';
import { dateIn, firstMoment, fromMillis, toDateTime, toMillis } from '#platform/dates.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { unlessMade } from './seed-once.ts';

/** A week of the diary, from today on or back: every status in one round. */
const week = [
  { type: 'TEST_DRIVE', day: -2, hour: 10, outcome: 'COMPLETED' },
  { type: 'VIEWING', day: -1, hour: 14, outcome: 'NO_SHOW' },
  { type: 'SERVICE', day: 0, hour: 9, outcome: 'ARRIVED' },
  { type: 'PART_EXCHANGE_APPRAISAL', day: 1, hour: 11, outcome: 'CANCELLED' },
  { type: 'HANDOVER', day: 1, hour: 15, outcome: 'CONFIRMED' },
  { type: 'MOT', day: 2, hour: 8, outcome: 'BOOKED' },
  { type: 'VIDEO_CALL', day: 3, hour: 16, outcome: 'BOOKED' },
] as const;
type Visit = (typeof week)[number];

const hourMs = 3_600_000;

/** Books `count` appointments of the seed's customers around the present day: the same everywhere but for ids and times. */
export async function seedAppointments(ctx: Context, staffId: string | undefined, count: number): Promise<void> {
  const { data } = await listEnquiries(ctx, enquiryListQuery.parse({ limit: '100' }));
  const enquiries = new Map(data.filter((one): one is Enquiry => 'reference' in one).map((enquiry) => [enquiry.external_id, enquiry]));
  for (let n = 0; n < count; n++) {
    const enquiry = enquiries.get(`seed-${n + 1}`);
    const visit = week[n % week.length]!;
    if (!enquiry) continue;
    await inTransaction(ctx, async (tx) => {
      const booked = await unlessMade(tx, () => createAppointment(tx, appointmentOf(tx, n, visit, enquiry, staffId)));
      if (booked) await lead(tx, booked.id, visit);
    });
  }
}

/** What is for the workshop is of the customer's own car, what is for sales of the enquiry. */
function appointmentOf(ctx: Context, n: number, visit: Visit, enquiry: Enquiry, staffId: string | undefined): NewAppointment {
  const { id, branch_id, customer_id, contact, vehicle_id, part_exchange: offer } = enquiry;
  const booking = {
    external_id: `seed-${n + 1}`,
    branch_id,
    type: visit.type,
    starts_at: startOf(ctx, visit, Math.floor(n / week.length)),
    ...(staffId && { assigned_to_id: staffId }),
  };
  if (visit.type === 'SERVICE' || visit.type === 'MOT') {
    const own = { registration: `SE${String(n % 100).padStart(2, '0')}EED`, make: 'Ford', model: 'Focus', mileage: 30_000 + n * 1_250 };
    const transport_option = visit.type === 'MOT' ? 'WHILE_YOU_WAIT' : 'COURTESY_CAR';
    return { ...booking, customer_id, customer_vehicle: own, transport_option, notes: 'Please check the brakes as well.' };
  }
  if (visit.type === 'VIDEO_CALL') {
    return { ...booking, contact: contact && { first_name: contact.first_name, mobile: contact.mobile }, location: 'ONLINE' };
  }
  const offered = visit.type === 'PART_EXCHANGE_APPRAISAL' && offer;
  return {
    ...booking,
    customer_id,
    enquiry_id: id,
    vehicle_id,
    ...(offered && {
      customer_vehicle: { registration: offer.registration, make: offer.make, model: offer.model, mileage: offer.mileage },
    }),
  };
}

/** At the full hour of the dealership's clocks, and in each further round an hour later. */
function startOf({ now, dealer: { timeZone } }: Context, { day, hour }: Visit, round: number): string {
  const date = dateIn(timeZone, fromMillis(toMillis(now) + day * 24 * hourMs));
  return toDateTime(fromMillis(toMillis(firstMoment(timeZone, date)) + (hour + round) * hourMs));
}

/** Leads an appointment to where it ends. */
async function lead(tx: Context, id: string, { outcome }: Visit): Promise<void> {
  if (outcome === 'BOOKED') return;
  if (outcome === 'CANCELLED') await cancelAppointment(tx, id, { reason: 'Has sold the car elsewhere.' });
  else await updateAppointment(tx, id, { status: outcome });
}
