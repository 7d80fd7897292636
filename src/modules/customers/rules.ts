import type { FieldErrors } from '#platform/errors.ts';
import { invalidFields, Refusal } from '#platform/errors.ts';
import { wrongMetadata } from '#platform/records.ts';
import type { CustomerType } from './contract.ts';

// What the dealership does not allow, and who it takes for whom. Pure: the same customer and the same change always give the same answer.

/** Someone's names. */
export interface Names {
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly company_name: string | null;
}

/** How someone is reached. */
export interface Reached {
  readonly email: string | null;
  readonly mobile: string | null;
  readonly phone: string | null;
}

/** A customer as far as the rules look at it. */
export interface Standing extends Names, Reached {
  readonly id: string;
  readonly metadata: Readonly<Record<string, string>>;
}

// ---- Names ----

/** A business goes by its name, anybody else by first and last name. */
export function displayName(type: CustomerType, { first_name: first, last_name: last, company_name: company }: Names): string {
  const person = [first, last].filter((name) => name !== null).join(' ');
  return (type === 'BUSINESS' ? company || person : person || company) ?? '';
}

/** A name as it is compared: lower case, without the accents of Latin letters, with one kind of apostrophe. */
export const nameKey = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[\u2018\u2019\u02bc`\u00b4]/g, "'")
    .replaceAll(/\s+/g, ' ')
    .toUpperCase()
    .toLowerCase()
    .trim();

/** Someone who gives a company's name and no last name is taken for the company. */
export const typeOf = ({ last_name: last, company_name: company }: Names): CustomerType =>
  last === null && company !== null ? 'BUSINESS' : 'INDIVIDUAL';

// ---- Who is who ----

/** A customer as far as others are taken for them. */
export interface Known extends Reached {
  readonly id: string;
  readonly last_name_key: string | null;
  readonly company_key: string | null;
}

type Contact = Reached & Pick<Names, 'last_name' | 'company_name'>;

/**
 * The customer a contact means: by e-mail, then mobile, then phone, and of the same last name where the contact gives one, else of the
 * same company, since families and houses share them. Of several the first of `known` counts.
 */
export function customerMeant<K extends Known>(contact: Contact, known: readonly K[]): K | undefined {
  const namesakes = known.filter((customer) => isNameless(contact) || isNamesake(contact, customer));
  const { email, mobile, phone } = contact;
  return (
    namesakes.find((customer) => email !== null && customer.email === email) ??
    namesakes.find((customer) => hasNumber(customer, mobile)) ??
    namesakes.find((customer) => hasNumber(customer, phone))
  );
}

/** Those a new customer may be a duplicate of, namesakes first. */
export function duplicatesAmong(contact: Contact, known: readonly Known[]): string[] {
  const namesakes = known.filter((customer) => isNamesake(contact, customer));
  return [...namesakes, ...known.filter((customer) => !namesakes.includes(customer))].slice(0, 20).map(({ id }) => id);
}

const isNameless = ({ last_name: name, company_name: company }: Contact): boolean => name === null && company === null;

const isNamesake = ({ last_name: name, company_name: company }: Contact, known: Known): boolean =>
  name !== null ? nameKey(name) === known.last_name_key : company !== null && nameKey(company) === known.company_key;

/** A number is the same one whichever of the two fields holds it. */
const hasNumber = ({ mobile, phone }: Known, number: string | null): boolean => number !== null && (mobile === number || phone === number);

// ---- The customer itself ----

/** What is wrong with the customer as it would be. One from an enquiry may have less than a new one needs; a change may not take it. */
export function checkCustomer(before: Standing | null, after: Standing): void {
  const errors: FieldErrors = wrongMetadata(after);
  if (!isNamed(after) && (before === null || isNamed(before))) {
    errors.last_name = ['A customer needs a last_name or a company_name.'];
  }
  if (!isReached(after) && (before === null || isReached(before))) {
    errors.email = ['A customer needs an email, a mobile or a phone.'];
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}

const isNamed = ({ last_name: last, company_name: company }: Names): boolean => last !== null || company !== null;
const isReached = ({ email, mobile, phone }: Reached): boolean => email !== null || mobile !== null || phone !== null;

/** What a customer is kept for. */
export type Holdings = Readonly<Record<keyof typeof singular, number>>;

export function checkDeletable(held: Holdings): void {
  const named = (Object.keys(singular) as (keyof Holdings)[]).filter((kind) => held[kind] > 0).map((kind) => counted(kind, held[kind]));
  if (named.length > 0) throw new Refusal('customer_has_enquiries', `The customer has ${list.format(named)}.`);
}

const singular = { enquiries: 'an enquiry', deals: 'a deal', job_cards: 'a job card', invoices: 'an invoice' } as const;
const list = new Intl.ListFormat('en-GB');

const counted = (kind: keyof Holdings, count: number): string => (count === 1 ? singular[kind] : `${count} ${kind.replaceAll('_', ' ')}`);
