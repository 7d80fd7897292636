// A browser without script: it keeps cookies, follows redirects within its hosts, and sees of a page what a form needs.

export interface Field {
  readonly name: string;
  readonly type: string;
  readonly value: string;
  readonly checked: boolean;
  readonly disabled: boolean;
}

export interface Form {
  readonly action: string;
  readonly method: string;
  readonly fields: readonly Field[];
  readonly buttons: readonly (Field & { readonly label: string })[];
}

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** What a reader reads. */
  readonly text: string;
  readonly forms: readonly Form[];
  readonly links: readonly { readonly href: string; readonly label: string }[];
}

/** Where a browser ended: on a page, or sent to an address that is none of its hosts'. */
export type Arrival = { readonly page: Page; readonly away?: undefined } | { readonly away: string; readonly page?: undefined };

export interface Browser {
  open(url: string): Promise<Arrival>;
  /** Sends a form as it stands, with these values in its fields, ticks for its boxes and this button pressed. */
  submit(page: Page, form: Form, filled: Filled): Promise<Arrival>;
}

export interface Filled {
  readonly values?: Readonly<Record<string, string>>;
  /** Which boxes are ticked; as they stand when nobody says. A disabled one cannot be. */
  readonly ticked?: (box: Field) => boolean;
  /** What the button says; the first when nobody says. */
  readonly button?: string;
  /** What no field of the form says, but a forger might. */
  readonly forged?: readonly Pair[];
}

type Pair = readonly [name: string, value: string];

/** A browser that stays on these origins and reports where else it is sent. */
export function browser(...origins: readonly string[]): Browser {
  const cookies = new Map<string, string>();

  async function visit(url: string, from: Page | null, form?: URLSearchParams): Promise<Arrival> {
    if (!origins.includes(new URL(url).origin)) return { away: url };
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: {
        accept: 'text/html,*/*;q=0.8',
        'sec-fetch-site': siteOf(from, url),
        ...(cookies.size > 0 && { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
        ...(form && { origin: new URL(from?.url ?? url).origin }),
      },
      ...(form && { body: form }),
    });
    for (const line of response.headers.getSetCookie()) keep(cookies, line);
    const html = await response.text();
    const page = {
      url,
      status: response.status,
      headers: response.headers,
      html,
      text: textOf(html),
      forms: formsOf(html),
      links: linksOf(html, url),
    };
    const next = response.headers.get('location') ?? refreshOf(html);
    if (next === null) return { page };
    return visit(new URL(next, url).href, response.headers.has('location') ? from : page);
  }

  return {
    open: (url) => visit(url, null),
    submit(page, { action, method, fields, buttons }, { values = {}, ticked = ({ checked }) => checked, button, forged = [] }) {
      const pressed = buttons.find(({ label }) => button === undefined || label === button);
      if (!pressed) throw new Error(`No button says ${button}: ${buttons.map(({ label }) => label)}`);
      const sent = fields.filter((field) => !field.disabled && (!isBox(field) || ticked(field)));
      const pairs = [...sent, ...(pressed.name ? [pressed] : [])].map(({ name, value }): Pair => [name, values[name] ?? value]);
      const query = new URLSearchParams([...pairs, ...forged] as [string, string][]);
      const url = new URL(action || page.url, page.url);
      if (method === 'post') return visit(url.href, page, query);
      url.search = query.toString();
      return visit(url.href, page);
    },
  };
}

/** What a browser says of who sent it: the page that a redirect was met on, or nobody. */
function siteOf(from: Page | null, to: string): string {
  if (from === null) return 'none';
  const [source, target] = [new URL(from.url), new URL(to)];
  if (source.origin === target.origin) return 'same-origin';
  return source.hostname === target.hostname ? 'same-site' : 'cross-site';
}

function keep(cookies: Map<string, string>, line: string): void {
  const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? [];
  const expires = /;\s*expires=([^;]+)/i.exec(attributes)?.[1];
  const gone = /;\s*max-age=(0|-\d+)\b/i.test(attributes) || (expires !== undefined && Date.parse(expires) < Date.now());
  if (gone) cookies.delete(name.trim());
  else cookies.set(name.trim(), value);
}

const isBox = ({ type }: Field): boolean => type === 'checkbox' || type === 'radio';

function formsOf(html: string): Form[] {
  return [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)].map(([, head = '', inside = '']) => ({
    action: attribute(head, 'action') ?? '',
    method: (attribute(head, 'method') ?? 'get').toLowerCase(),
    fields: [...inside.matchAll(/<input\b([^>]*)>/gi)].map(([, tag = '']) => fieldOf(tag, 'text')),
    buttons: [...inside.matchAll(/<button\b([^>]*)>([\s\S]*?)<\/button>/gi)].map(([, tag = '', label = '']) => ({
      ...fieldOf(tag, 'submit'),
      label: textOf(label),
    })),
  }));
}

const linksOf = (html: string, url: string) =>
  [...html.matchAll(/<a\b([^>]*)>([\s\S]*?)<\/a>/gi)].map(([, tag = '', label = '']) => ({
    href: new URL(attribute(tag, 'href') ?? '', url).href,
    label: textOf(label),
  }));

const fieldOf = (tag: string, type: string): Field => ({
  name: attribute(tag, 'name') ?? '',
  type: attribute(tag, 'type') ?? type,
  value: attribute(tag, 'value') ?? (attribute(tag, 'type') === 'checkbox' ? 'on' : ''),
  checked: attribute(tag, 'checked') !== null,
  disabled: attribute(tag, 'disabled') !== null,
});

/** The value of an attribute; empty when it has none, null when it is not there. */
function attribute(tag: string, name: string): string | null {
  const found = new RegExp(`(?:^|\\s)${name}(?:\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+)))?(?=\\s|/|$)`, 'i').exec(tag);
  return found && decoded(found[1] ?? found[2] ?? found[3] ?? '');
}

const refreshOf = (html: string): string | null => {
  const content = /<meta\b[^>]*http-equiv="?refresh"?[^>]*>/i.exec(html)?.[0];
  return /url=(.*)$/i.exec(attribute(content?.slice(5, -1) ?? '', 'content') ?? '')?.[1]?.replaceAll(/^['"]|['"]$/g, '') ?? null;
};

const textOf = (html: string): string =>
  decoded(
    html
      .replaceAll(/<(style|script|head)\b[\s\S]*?<\/\1>/gi, ' ')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' '),
  ).trim();

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

const decoded = (text: string): string =>
  text.replaceAll(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name) return named[name] ?? whole;
    return String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16));
  });
