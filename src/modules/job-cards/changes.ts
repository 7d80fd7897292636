import { isDeepStrictEqual } from 'node:util';
import type { Instant } from '#platform/dates.ts';
import { momentOf } from '#platform/dates.ts';
import { patched, patchedMap } from '#platform/merge-patch.ts';
import type { Change } from '#platform/records.ts';
import type { CustomerVehicle, JobCardChanges, NewJobCard } from './contract.ts';
import type { JobCardRow } from './queries.ts';
import { blankJobCard } from './queries.ts';

// What a write makes of a job card.

/** The fields that are kept as they are written, under the same name … */
const plain = [
  ...(['external_id', 'branch_id', 'status', 'advisor_id', 'mileage_in', 'mileage_out', 'concern', 'diagnosis', 'work_done'] as const),
  ...(['key_tag', 'transport_option', 'customer_order_number', 'internal_notes'] as const),
] as const satisfies readonly (keyof JobCardRow & keyof JobCardChanges)[];

/** … and those of them that only a creation says. */
const first = ['type', 'customer_id', 'vehicle_id', 'appointment_id', 'deal_id'] as const satisfies readonly (keyof JobCardRow &
  keyof NewJobCard)[];

const others = [
  ...(['customer_vehicle', 'technician_ids', 'booked_in_at', 'promised_at', 'started_at', 'completed_at', 'collected_at'] as const),
  ...(['lines', 'metadata'] as const),
] as const;

/** The card with the changes written over it, as a merge patch. */
export function written(before: JobCardRow, changes: JobCardChanges): JobCardRow {
  const after = { ...before };
  for (const field of plain) if (changes[field] !== undefined) Object.assign(after, { [field]: changes[field] });
  if (changes.technician_ids !== undefined) after.technician_ids = [...new Set(changes.technician_ids)];
  if (changes.booked_in_at !== undefined) after.booked_in_at = changes.booked_in_at && momentOf(changes.booked_in_at);
  if (changes.promised_at !== undefined) after.promised_at = changes.promised_at && momentOf(changes.promised_at);
  if (changes.metadata !== undefined) after.metadata = patchedMap(before.metadata, changes.metadata);
  return after;
}

/** The same of a new card, with what only a creation says. `owned` is the car of the customer's that it names. */
export function opened(blank: JobCardRow, body: NewJobCard, owned: CustomerVehicle | undefined): JobCardRow {
  const after = written(blank, body);
  for (const field of first) if (body[field] !== undefined) Object.assign(after, { [field]: body[field] });
  if (body.customer_vehicle !== undefined) after.customer_vehicle = patched(noCar, owned ?? null, body.customer_vehicle);
  return after;
}

const noCar: CustomerVehicle = { id: null, registration: null, vin: null, make: null, model: null };

/** Draws the consequences of a change: the times. */
export function settled(before: JobCardRow | null, after: JobCardRow, now: Instant): Change<JobCardRow> {
  const next = { ...after };
  if (next.status !== before?.status) {
    next.status_changed_at = now;
    if (next.status === 'IN_PROGRESS') next.started_at ??= now;
    const finished = next.status === 'COMPLETED' || next.status === 'INVOICED';
    next.completed_at = finished ? (next.completed_at ?? now) : null;
    if (!finished) next.collected_at = null;
  }
  const from = before ?? blankJobCard;
  const changed: string[] = [...plain, ...first, ...others].filter((field) => !isDeepStrictEqual(from[field], next[field]));
  if (!before || changed.length > 0 || next.deleted_at !== before.deleted_at) next.updated_at = now;
  return { before, after: next, changed };
}
