import { isDeepStrictEqual } from 'node:util';
import { patchedContact } from '#modules/enquiries/index.ts';
import type { Instant } from '#platform/dates.ts';
import { fromMillis, momentOf, toMillis } from '#platform/dates.ts';
import { patched, patchedMap } from '#platform/merge-patch.ts';
import type { Change } from '#platform/records.ts';
import type { AppointmentChanges, CustomerVehicle } from './contract.ts';
import type { AppointmentRow } from './queries.ts';
import { blankAppointment } from './queries.ts';

// What a write makes of an appointment.

/** The fields that are kept as they are written, under the same name. */
const plain = [
  ...(['external_id', 'branch_id', 'type', 'status', 'customer_id', 'enquiry_id', 'deal_id', 'vehicle_id', 'assigned_to_id'] as const),
  ...(['location', 'transport_option', 'notes'] as const),
] as const satisfies readonly (keyof AppointmentRow & keyof AppointmentChanges)[];

const others = [
  ...(['starts_at', 'ends_at', 'contact', 'customer_vehicle', 'source', 'cancelled_at', 'cancellation_reason', 'metadata'] as const),
] as const;

/** The appointment with the changes written over it, as a merge patch. */
export function written(before: AppointmentRow, changes: AppointmentChanges): AppointmentRow {
  const after = { ...before, ...span(before, changes) };
  for (const field of plain) if (changes[field] !== undefined) Object.assign(after, { [field]: changes[field] });
  if (changes.contact !== undefined) after.contact = patchedContact(before.contact, changes.contact);
  if (changes.customer_vehicle !== undefined) after.customer_vehicle = patched(noCar, before.customer_vehicle, changes.customer_vehicle);
  if (changes.metadata !== undefined) after.metadata = patchedMap(before.metadata, changes.metadata);
  return after;
}

const noCar: CustomerVehicle = { registration: null, make: null, model: null, mileage: null };

type Span = Pick<AppointmentRow, 'starts_at' | 'ends_at'>;

/** Who says when it starts moves it whole; an end that is cleared is the usual one. */
function span(before: Span, { starts_at: from, ends_at: to }: AppointmentChanges): Span {
  const starts_at = from === undefined ? before.starts_at : momentOf(from);
  if (typeof to === 'string') return { starts_at, ends_at: momentOf(to) };
  return { starts_at, ends_at: fromMillis(toMillis(starts_at) + lengthMs(to === null ? blankAppointment : before)) };
}

const lengthMs = ({ starts_at, ends_at }: Span): number => toMillis(ends_at) - toMillis(starts_at);

/** Draws the consequences of a change: what differs, and the time. */
export function settled(before: AppointmentRow | null, after: AppointmentRow, now: Instant): Change<AppointmentRow> {
  const next = { ...after };
  const from = before ?? blankAppointment;
  const changed = [...plain, ...others].filter((field) => !isDeepStrictEqual(from[field], next[field]));
  if (!before || changed.length > 0 || next.deleted_at !== before.deleted_at) next.updated_at = now;
  return { before, after: next, changed };
}
