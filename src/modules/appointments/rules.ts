import type { Instant } from '#platform/dates.ts';
import type { FieldErrors } from '#platform/errors.ts';
import { invalid, invalidFields, Refusal } from '#platform/errors.ts';
import { wrongMetadata } from '#platform/records.ts';
import type { AppointmentStatus } from './contract.ts';
import { closedStatuses } from './contract.ts';

// What the dealership does not allow. Pure: the same appointment and the same change always give the same answer.

/** An appointment as far as the rules look at it. */
export interface Standing {
  readonly status: AppointmentStatus;
  readonly starts_at: Instant;
  readonly ends_at: Instant;
  readonly customer_id: string | null;
  readonly contact: object | null;
  readonly metadata: Readonly<Record<string, string>>;
}

// ---- Statuses ----

/** What becomes of an appointment that is kept. */
const course: readonly AppointmentStatus[] = ['BOOKED', 'CONFIRMED', 'ARRIVED', 'COMPLETED'];

const isClosed = (status: AppointmentStatus): boolean => closedStatuses.some((closed) => closed === status);

/** What is over keeps its status and its time. */
export function checkOpen(before: Standing, after: Standing): void {
  if (!isClosed(before.status)) return;
  if ((['status', 'starts_at', 'ends_at'] as const).some((field) => before[field] !== after[field])) throw closed(before.status);
}

/** Forward along its course, steps left out or not; missed once it was due. */
export function checkMove(from: AppointmentStatus, { status: to, starts_at: startsAt }: Standing, now: Instant): void {
  if (from === to) return;
  if (to === 'NO_SHOW') {
    if (now < startsAt) throw invalid('status', 'An appointment is missed once its starts_at has passed.');
  } else if (course.indexOf(to) < course.indexOf(from)) {
    throw invalid(
      'status',
      `From ${from} an appointment goes forward only: ${course.slice(course.indexOf(from) + 1).join(', ')} or NO_SHOW.`,
    );
  }
}

export function checkCancellable(status: AppointmentStatus): void {
  if (isClosed(status)) throw closed(status);
}

const closed = (status: AppointmentStatus): Refusal => new Refusal('appointment_closed', `The appointment is ${closings[status]}.`);

const closings: Partial<Record<AppointmentStatus, string>> = { COMPLETED: 'completed', NO_SHOW: 'missed', CANCELLED: 'cancelled' };

// ---- The appointment itself ----

/** What is wrong with the appointment as it would be; `wrong` is what is known of that already. */
export function checkAppointment(after: Standing, wrong: FieldErrors = {}): void {
  const errors: FieldErrors = { ...wrongMetadata(after), ...wrong };
  if (after.ends_at <= after.starts_at) errors.ends_at = ['Must be after starts_at.'];
  if (after.customer_id === null && after.contact === null) errors.contact ??= ['An appointment needs a customer_id or a contact.'];
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}

/** Whether a job card that was made or deleted is the one an appointment shows or showed: of several it shows the newest. Ids are in the order of time. */
export const shows = ({ job_card_id: shown }: { readonly job_card_id: string | null }, jobCardId: string): boolean =>
  shown === null || shown <= jobCardId;

/** What the workshop works on stays in the diary. */
export function checkDeletable(jobCardId: string | null): void {
  if (jobCardId !== null) throw new Refusal('request_refused', 'The appointment has a job card.');
}
