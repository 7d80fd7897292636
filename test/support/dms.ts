import assert from 'node:assert/strict';
import type { Service } from '#platform/service.ts';
import { buildDms } from '../../src/app/dms/server.ts';

/** What a browser was shown. */
export interface Paper {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Where it is led, null when it stays. */
  readonly leadsTo: string | null;
}

/** A browser without scripts before the web application: it keeps cookies, says where its forms come from and fills them in. */
export interface Visitor {
  readonly cookies: Map<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<Paper>;
  post(path: string, form: Record<string, string | readonly string[]> | URLSearchParams, headers?: Record<string, string>): Promise<Paper>;
  /** Sends the form of a page as it stands there, with what is filled in; undefined leaves a field out. */
  fill(paper: Paper, action: string, filled?: Record<string, string | readonly string[] | undefined>): Promise<Paper>;
  signIn(who: Credentials, page?: string): Promise<Paper>;
}

export interface Credentials {
  readonly dealerCode: string;
  readonly email: string;
  readonly password?: string;
}

const apps = new WeakMap<Service, ReturnType<typeof buildDms>>();

/** The web application of a service, built when it is first asked for. */
export function dmsOf(service: Service): ReturnType<typeof buildDms> {
  const app = apps.get(service) ?? buildDms({ service, trustedProxies: ['10.0.0.0/8'] });
  apps.set(service, app);
  return app;
}

/** Somebody with a browser of their own, at an address of their own. */
export function visitor(service: Service, address = '127.0.0.1'): Visitor {
  const app = dmsOf(service);
  const cookies = new Map<string, string>();
  const own = new URL(service.dmsUrl).origin;

  const ask = async (method: 'GET' | 'POST', url: string, payload: string | undefined, more: Record<string, string>): Promise<Paper> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(cookie && { cookie }), ...more };
    const answer = await app.inject({ method, url, remoteAddress: address, headers, ...(payload !== undefined && { payload }) });
    for (const { name, value, maxAge } of answer.cookies) {
      if (maxAge === 0) cookies.delete(name);
      else cookies.set(name, value);
    }
    assert.ok(answer.statusCode < 500 || answer.statusCode === 503, answer.payload);
    return {
      status: answer.statusCode,
      headers: answer.headers as Record<string, string>,
      text: answer.payload,
      leadsTo: answer.headers.location ?? null,
    };
  };
  const post: Visitor['post'] = (path, form, headers = {}) =>
    ask('POST', path, asForm(form).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
      origin: own,
      'sec-fetch-site': 'same-origin',
      ...headers,
    });
  const fill: Visitor['fill'] = (paper, action, filled = {}) => {
    const form = formIn(paper.text, action);
    for (const [name, value] of Object.entries(filled)) {
      form.delete(name);
      for (const one of value === undefined ? [] : [value].flat()) form.append(name, one);
    }
    return post(action, form);
  };
  return {
    cookies,
    get: (path, headers = {}) => ask('GET', path, undefined, headers),
    post,
    fill,
    async signIn({ dealerCode, email, password = 'correct horse' }, page = '/sign-in') {
      const paper = await ask('GET', page, undefined, {});
      return fill(paper, '/sign-in', { dealer_code: dealerCode, email, password });
    },
  };
}

/** Walks a request to connect: signs in, approves what is ticked or declines, and returns the address that leads back to the app. */
export async function walkConsent(
  service: Service,
  consentAddress: string,
  who: Credentials,
  { decision = 'approve', scopes }: { decision?: 'approve' | 'decline'; scopes?: readonly string[] } = {},
): Promise<string> {
  const browser = visitor(service);
  const { pathname, search } = new URL(consentAddress);
  const toSignIn = await browser.get(pathname + search);
  const signedIn = await browser.signIn(who, toSignIn.leadsTo ?? '');
  assert.equal(signedIn.status, 303, signedIn.text);
  const page = await browser.get(signedIn.leadsTo ?? '');
  const decided = await browser.fill(page, '/oauth/consent', { decision, ...(scopes && { scope: scopes }) });
  assert.equal(decided.status, 303, decided.text);
  return decided.leadsTo ?? '';
}

const asForm = (form: Record<string, string | readonly string[]> | URLSearchParams): URLSearchParams =>
  form instanceof URLSearchParams
    ? form
    : new URLSearchParams(
        Object.entries(form).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value])),
      );

/** What a browser would send of a form that nobody touched. */
export function formIn(page: string, action: string): URLSearchParams {
  const [, inside] = new RegExp(`<form[^>]*action="${action}"[^>]*>([\\s\\S]*?)</form>`).exec(page) ?? [];
  assert.ok(inside !== undefined, `The page has no form for ${action}: ${page}`);
  const form = new URLSearchParams();
  for (const [, attributes = ''] of inside.matchAll(/<input([^>]*)>/g)) {
    const of = (name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1];
    const isTick = of('type') === 'checkbox';
    if (of('name') === undefined || /\sdisabled/.test(attributes) || (isTick && !/\schecked/.test(attributes))) continue;
    form.append(of('name') ?? '', plain(of('value') ?? ''));
  }
  return form;
}

const plain = (text: string): string => text.replaceAll(/&(?:amp|lt|gt|quot|#39|#96);/g, (entity) => entities[entity] ?? entity);

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&#96;': '`' };
