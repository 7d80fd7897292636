import { isDeepStrictEqual } from 'node:util';
import { consented, patchedAddress } from '#modules/customers/index.ts';
import type { Instant } from '#platform/dates.ts';
import { parseInstant, wholeSecond } from '#platform/dates.ts';
import { patched, patchedMap } from '#platform/merge-patch.ts';
import type { Change } from '#platform/records.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Attribution, Contact, ContactChanges, EnquiryChanges } from './contract.ts';
import type { DetailedRow, KeptFinance, KeptTestDrive, KeptWanted, PartExchangeRow } from './queries.ts';
import { blankEnquiry } from './queries.ts';
import { isAnswered, isOpen } from './rules.ts';

// What a write makes of an enquiry.

/** The fields that are kept as they are written, under the same name. */
const plain = [
  ...(['external_id', 'branch_id', 'status', 'type', 'source', 'source_detail', 'channel', 'customer_id', 'message'] as const),
  ...(['vehicle_id', 'assigned_to_id', 'lost_reason', 'lost_note'] as const),
] as const satisfies readonly (keyof DetailedRow & keyof EnquiryChanges)[];

const others = [
  ...(['contact', 'wanted', 'part_exchange', 'finance', 'test_drive', 'first_responded_at', 'next_action_at'] as const),
  ...(['marketing_consent', 'attribution', 'metadata', 'notes'] as const),
] as const;

/** The enquiry with the changes written over it, as a merge patch. */
export function written(before: DetailedRow, changes: EnquiryChanges, now: Instant): DetailedRow {
  const after = { ...before };
  for (const field of plain) if (changes[field] !== undefined) Object.assign(after, { [field]: changes[field] });
  if (changes.contact !== undefined) after.contact = patchedContact(before.contact, changes.contact);
  if (changes.wanted !== undefined) after.wanted = patched(noWish, before.wanted, changes.wanted);
  if (changes.part_exchange !== undefined) after.part_exchange = offered(before.part_exchange, changes.part_exchange, now);
  if (changes.finance !== undefined) after.finance = patched(noFinance, before.finance, changes.finance);
  if (changes.test_drive !== undefined) after.test_drive = patchedTestDrive(before.test_drive, changes.test_drive);
  if (changes.attribution !== undefined) after.attribution = patched(noAttribution, before.attribution, changes.attribution);
  if (changes.next_action_at !== undefined) after.next_action_at = momentOf(changes.next_action_at);
  if (changes.marketing_consent !== undefined)
    after.marketing_consent = consented(before.marketing_consent, changes.marketing_consent, now);
  if (changes.metadata !== undefined) after.metadata = patchedMap(before.metadata, changes.metadata);
  if (isOpen(after)) Object.assign(after, { lost_reason: null, lost_note: null });
  return after;
}

const momentOf = (text: string | null): Instant | null => text && wholeSecond(parseInstant(text));

const nobody: Contact = {
  title: null,
  first_name: null,
  last_name: null,
  company_name: null,
  email: null,
  mobile: null,
  phone: null,
  address: null,
  preferred_method: null,
  preferred_time: null,
};

/** A contact with changes laid over it. */
export function patchedContact(before: Contact | null, changes: ContactChanges): Contact | null {
  if (changes === null) return null;
  const { address, ...rest } = changes;
  return patched(nobody, before, { ...rest, address: address && patchedAddress(before?.address ?? null, address) });
}

const noWish: KeptWanted = {
  make: null,
  model: null,
  condition: null,
  min_price: null,
  max_price: null,
  max_mileage: null,
  fuel_type: null,
  transmission: null,
  body_type: null,
  colour: null,
  change_by: null,
};

const noFinance: KeptFinance = {
  interested: null,
  type: null,
  deposit: null,
  term_months: null,
  annual_mileage: null,
  monthly_budget: null,
};

const noAttribution: Attribution = {
  page_url: null,
  referrer: null,
  utm_source: null,
  utm_medium: null,
  utm_campaign: null,
  gclid: null,
};

const noTestDrive: KeptTestDrive = { requested: null, preferred_at: null, location: null };

function patchedTestDrive(before: KeptTestDrive | null, changes: NonNullable<EnquiryChanges['test_drive']> | null): KeptTestDrive | null {
  if (changes === null) return null;
  const { preferred_at: preferredAt, ...rest } = changes;
  return patched(noTestDrive, before, { ...rest, preferred_at: preferredAt === undefined ? undefined : momentOf(preferredAt) });
}

const noOffer = {
  registration: null,
  make: null,
  model: null,
  derivative: null,
  mileage: null,
  condition: null,
  outstanding_finance: null,
  expected_value: null,
  valuation: null,
  valued_at: null,
  vehicle_id: null,
} as const;

/** A car that was offered keeps its id; of one nothing is said about there is none. */
function offered(
  before: PartExchangeRow | null,
  changes: NonNullable<EnquiryChanges['part_exchange']> | null,
  now: Instant,
): PartExchangeRow | null {
  if (changes === null) return null;
  if (before) {
    const { id, status, ...offer } = before;
    const next = patched<Omit<PartExchangeRow, 'id' | 'status'>>(noOffer, offer, changes);
    return next && { id, status, ...next };
  }
  const offer = patched<Omit<PartExchangeRow, 'id' | 'status'>>(noOffer, null, changes);
  return offer && { id: uuidv7(now), status: 'OFFERED', ...offer };
}

/** Draws the consequences of a change: whether someone has responded now, and the time. */
export function settled(before: DetailedRow | null, after: DetailedRow, now: Instant): Change<DetailedRow> {
  const next = { ...after };
  if (next.status !== before?.status && isAnswered(next.status)) {
    next.contacted_at = now;
    next.first_responded_at ??= now;
  }
  const from = before ?? blankEnquiry;
  const changed = [...plain, ...others].filter((field) => !isDeepStrictEqual(from[field], next[field]));
  if (!before || changed.length > 0 || next.deleted_at !== before.deleted_at) next.updated_at = now;
  return { before, after: next, changed };
}
