import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import type { FieldErrors } from './errors.ts';
import { invalid, invalidFields } from './errors.ts';

/** A phone number in E.164, one without a country code read as the country's; undefined when it is none. */
export function phoneNumber(text: string, country: string): string | undefined {
  const read = parsePhoneNumberFromString(text, { extract: false, ...(isSupportedCountry(country) && { defaultCountry: country }) });
  // E.164 has no room for an extension: it would be lost without a word.
  return read?.isPossible() && read.ext === undefined ? read.number : undefined;
}

interface Numbers {
  readonly phone?: string | null | undefined;
  readonly mobile?: string | null | undefined;
}

/** The same with its phone numbers in E.164, or a 422 by field; `within` is the field that holds it. */
export function dialable<T extends Numbers>(given: T, country: string, within = ''): T {
  const errors: FieldErrors = {};
  const numbers: Record<string, string> = {};
  for (const field of ['phone', 'mobile'] as const) {
    const text = given[field];
    if (typeof text !== 'string') continue;
    const number = phoneNumber(text, country);
    if (number === undefined) errors[within === '' ? field : `${within}.${field}`] = [notANumber];
    else numbers[field] = number;
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  return { ...given, ...numbers };
}

/** The values of the filter `phone` in E.164. */
export const phoneNumbers = (texts: readonly string[], country: string): string[] =>
  texts.map((text) => {
    const number = phoneNumber(text, country);
    if (number === undefined) throw invalid('phone', notANumber);
    return number;
  });

const notANumber =
  'Not a phone number. Send it as it is dialled in the dealership’s country, or with + and the country code; no extension.';
