import type { FieldErrors } from '#platform/errors.ts';
import { invalid, invalidFields, Refusal } from '#platform/errors.ts';
import { wrongMetadata } from '#platform/records.ts';
import type { EnquiryChanges, EnquiryStatus } from './contract.ts';

// What the dealership does not allow, and what it decides. Pure: the same enquiry and the same change always give the same answer.

/** An enquiry as far as the rules look at it. */
export interface Standing {
  readonly id: string;
  readonly status: EnquiryStatus;
  readonly branch_id: string;
  readonly contact: Readonly<Record<'first_name' | 'last_name' | 'company_name' | 'email' | 'mobile' | 'phone', string | null>> | null;
  readonly wanted: { readonly min_price: number | null; readonly max_price: number | null } | null;
  readonly part_exchange: { readonly status: PartExchangeStatus; readonly registration: string | null } | null;
  readonly lost_reason: string | null;
  readonly lost_note: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly dealt: Dealt;
}

/** What has come of its deals: whether one is invoiced, and how far they are with a part exchange. */
export interface Dealt {
  readonly invoiced: boolean;
  readonly exchange: 'AGREED' | 'RECEIVED' | null;
}

/** How far the dealership is with a car that is offered. */
export type PartExchangeStatus = 'OFFERED' | 'APPRAISED' | 'AGREED' | 'RECEIVED';

// ---- Statuses ----

const open: readonly EnquiryStatus[] = ['NEW', 'CONTACTED', 'APPOINTMENT', 'NEGOTIATING'];

export const isOpen = ({ status }: Pick<Standing, 'status'>): boolean => open.includes(status);

/** In these someone has spoken with the customer. */
export const isAnswered = (status: EnquiryStatus): boolean => status === 'WON' || (status !== 'NEW' && open.includes(status));

/** Open ones move freely and may end; what was lost or disqualified is opened again as CONTACTED; WON stays. */
export function checkMove(from: EnquiryStatus, to: EnquiryStatus): void {
  if (from === to || open.includes(from) || (from !== 'WON' && to === 'CONTACTED')) return;
  throw invalid(
    'status',
    from === 'WON' ? 'A won enquiry stays won; its deal alone changes that.' : `From ${from} an enquiry is opened again as CONTACTED only.`,
  );
}

// ---- The record's state ----

/** Of an enquiry that led to an invoiced deal it is not said that nothing came of it. `after` is null when it is deleted. */
export function checkInvoiced(before: Pick<Standing, 'status' | 'dealt'>, after: Pick<Standing, 'status'> | null): void {
  if (!before.dealt.invoiced || after?.status === before.status) return;
  if (!after || after.status === 'LOST' || after.status === 'DISQUALIFIED') throw new Refusal('enquiry_has_invoiced_order');
}

/** A car the dealership has looked at is neither forgotten nor made another. `after` is null when the enquiry is deleted. */
export function checkPartExchange(
  { part_exchange: offer, dealt }: Pick<Standing, 'part_exchange' | 'dealt'>,
  after: Pick<Standing, 'part_exchange'> | null,
): void {
  const status = dealt.exchange ?? offer?.status ?? 'OFFERED';
  const isAnother = typeof offer?.registration === 'string' && after?.part_exchange?.registration !== offer.registration;
  if (status !== 'OFFERED' && (!after || (offer && !after.part_exchange) || isAnother)) {
    throw new Refusal('enquiry_has_part_exchange', `The part exchange of this enquiry is ${status.toLowerCase()}.`);
  }
}

// ---- The enquiry itself ----

/** What is wrong with a contact as it would be. */
export function wrongContact(contact: Standing['contact']): FieldErrors {
  if (!contact) return { contact: ['A contact needs a name, and an email, a mobile or a phone.'] };
  const errors: FieldErrors = {};
  if (contact.first_name === null && contact.last_name === null && contact.company_name === null) {
    errors['contact.last_name'] = ['A contact needs a last_name, first_name or company_name.'];
  }
  if (contact.email === null && contact.mobile === null && contact.phone === null) {
    errors['contact.email'] = ['A contact needs an email, a mobile or a phone.'];
  }
  return errors;
}

/** What is wrong with the enquiry as it would be. `written` says which of it is being written. */
export function checkEnquiry(after: Standing, written: EnquiryChanges): void {
  const errors: FieldErrors = wrongMetadata(after);
  const { contact, wanted } = after;
  if (written.contact) Object.assign(errors, wrongContact(contact));
  if (written.wanted && wanted && wanted.min_price !== null && wanted.max_price !== null && wanted.min_price > wanted.max_price) {
    errors['wanted.max_price'] = ['Must not be less than min_price.'];
  }
  if (after.status === 'LOST' && after.lost_reason === null) errors.lost_reason = ['Required with LOST.'];
  if (isOpen(after) || after.status === 'WON') {
    if (written.lost_reason) errors.lost_reason = ['Only of a lost or disqualified enquiry.'];
    if (written.lost_note) errors.lost_note = ['Only of a lost or disqualified enquiry.'];
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}
