/** Text that is HTML already. Every other text becomes it where it is set into a page. */
export interface Html {
  readonly [made]: true;
  readonly text: string;
}

/** Nobody else can mark an object so. */
const made = Symbol('html');

type Value = Html | string | number | null | undefined | false | readonly Value[];

/** HTML with values in it. Whatever is no HTML itself is shown as the text it is; null, undefined and false show nothing. */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html => ({
  [made]: true,
  text: parts.map((part, i) => part + textOf(values[i])).join(''),
});

function textOf(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (Array.isArray(value)) return value.map(textOf).join('');
  if (typeof value === 'object') return made in value ? value.text : '';
  return String(value).replaceAll(/[&<>"'`]/g, (letter) => escapes[letter] ?? letter);
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '`': '&#96;' };
