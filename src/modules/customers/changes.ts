import { isDeepStrictEqual } from 'node:util';
import type { Instant } from '#platform/dates.ts';
import { parseInstant, wholeSecond } from '#platform/dates.ts';
import { patched, patchedMap } from '#platform/merge-patch.ts';
import type { Change } from '#platform/records.ts';
import type { Consent, ConsentChanges, CustomerChanges } from './contract.ts';
import type { Address, CustomerRow } from './queries.ts';
import { blankCustomer } from './queries.ts';
import { displayName, nameKey } from './rules.ts';

// What a write makes of a customer.

/** The fields that are kept as they are written, under the same name. */
const plain = [
  ...(['external_id', 'branch_id', 'type', 'title', 'first_name', 'last_name', 'company_name', 'email', 'mobile', 'phone'] as const),
  ...(['preferred_contact_method', 'vat_number', 'account_number'] as const),
] as const satisfies readonly (keyof CustomerRow & keyof CustomerChanges)[];

const others = ['display_name', 'address', 'marketing_consent', 'do_not_contact', 'tags', 'metadata'] as const;

/** The customer with the changes written over it, as a merge patch. */
export function written(before: CustomerRow, changes: CustomerChanges, now: Instant): CustomerRow {
  const after = { ...before };
  for (const field of plain) if (changes[field] !== undefined) Object.assign(after, { [field]: changes[field] });
  if (changes.address !== undefined) after.address = patchedAddress(before.address, changes.address);
  if (changes.marketing_consent !== undefined)
    after.marketing_consent = consented(before.marketing_consent, changes.marketing_consent, now);
  if (changes.do_not_contact !== undefined) after.do_not_contact = changes.do_not_contact ?? false;
  if (changes.tags !== undefined) after.tags = [...new Set(changes.tags)];
  if (changes.metadata !== undefined) after.metadata = patchedMap(before.metadata, changes.metadata);
  return after;
}

const noAddress: Address = { line1: null, line2: null, city: null, county: null, postcode: null, country: null };

/** An address with changes laid over it. */
export const patchedAddress = (before: Address | null, changes: NonNullable<CustomerChanges['address']> | null): Address | null =>
  patched(noAddress, before, changes);

const noConsent: Omit<Consent, 'recorded_at'> = { email: false, sms: false, phone: false, post: false, wording: null };

/** A consent with changes laid over it: of the moment they name, or of now when it says something else than before. */
export function consented(before: Consent | null, changes: ConsentChanges, now: Instant): Consent | null {
  if (changes === null || (before === null && saysNothing(changes))) return null;
  const { recorded_at: recordedAt, ...rest } = changes;
  const { recorded_at: recordedBefore, ...stood } = before ?? { ...noConsent, recorded_at: '' };
  const said: typeof noConsent = { ...stood };
  for (const channel of ['email', 'sms', 'phone', 'post'] as const) if (rest[channel] !== undefined) said[channel] = rest[channel] ?? false;
  if (rest.wording !== undefined) said.wording = rest.wording;
  if (typeof recordedAt === 'string') return { ...said, recorded_at: wholeSecond(parseInstant(recordedAt)) };
  return { ...said, recorded_at: before && isDeepStrictEqual(said, stood) ? recordedBefore : wholeSecond(now) };
}

const saysNothing = (changes: object): boolean => Object.values(changes).every((value) => value === undefined || value === null);

/** Draws the consequences of a change: what the customer is called and found by, and the time. */
export function settled(before: CustomerRow | null, after: CustomerRow, branchName: string | null, now: Instant): Change<CustomerRow> {
  const { type, first_name, last_name, company_name } = after;
  const next: CustomerRow = {
    ...after,
    branch_name: branchName,
    display_name: displayName(type, { first_name, last_name, company_name }),
    last_name_key: last_name && nameKey(last_name),
    full_name_key: first_name && nameKey([first_name, last_name].filter((name) => name !== null).join(' ')),
    company_key: company_name && nameKey(company_name),
  };
  const from = before ?? blankCustomer;
  const changed = [...plain, ...others].filter((field) => !isDeepStrictEqual(from[field], next[field]));
  if (!before || changed.length > 0 || next.deleted_at !== before.deleted_at) next.updated_at = now;
  return { before, after: next, changed };
}
