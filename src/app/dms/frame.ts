import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Session } from '#modules/staff/index.ts';
import { roleName } from '#modules/staff/index.ts';
import type { Part } from '#platform/http/pages.ts';
import type { Keyring } from '#platform/secrets.ts';
import { at } from './addresses.ts';
import { formMark } from './forms.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';

/** What is the same for every page: how they look. */
const partOf = (name: string, type: string): Part => {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8');
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { path: `/${name.replace('.', `-${hash}.`)}`, type, text };
};

const style = partOf('style.css', 'text/css; charset=utf-8');
const icon = partOf('icon.svg', 'image/svg+xml');
export const parts: readonly Part[] = [style, icon];

/** Whether it is for them to look after what the whole dealership uses. */
export const administers = ({ user }: Session): boolean => user.role === 'ADMINISTRATOR';

/** A page that stands alone: a card in the middle. */
export const cardPage = (title: string, body: Html): string => whole(title, html`<main class="card" id="content">${brand}${body}</main>`);

interface Framed {
  readonly title: string;
  readonly session: Session;
  readonly keyring: Keyring;
  readonly body: Html;
  /** Which page of the menu it is. */
  readonly here?: string;
}

/** A page of the application, with its menu and whose it is. */
export const framedPage = ({ title, session, keyring, body, here }: Framed): string =>
  whole(
    title,
    html`<a class="skip" href="#content">Skip to the content</a>
      <header class="bar">
        ${brand}
        <nav aria-label="Main">${menuOf(session).map(([address, name]) => html`<a href="${address}"${address === here && current}>${name}</a>`)}</nav>
        <div class="who"><span>${session.user.name}<small>${session.dealer.name} · ${roleName(session.user.role)}</small></span>
          <form method="post" action="${at.signOut}">${formMark(keyring, session.id)}<button class="plain">Sign out</button></form></div>
      </header>
      <main class="page" id="content">${body}</main>`,
  );

const current = html` aria-current="page"`;

const menuOf = (session: Session): [string, string][] => [
  [at.home, 'Start'],
  ...(administers(session) ? [[at.connectedApps, 'Connected apps'] as [string, string]] : []),
];

const brand = html`<div class="brand"><img src="${icon.path}" alt="" width="28" height="28">Forecourt</div>`;

const whole = (title: string, body: Html): string =>
  html`<!doctype html>
<html lang="en-GB"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Forecourt</title><link rel="icon" href="${icon.path}"><link rel="stylesheet" href="${style.path}"></head>
<body>${body}</body></html>
`.text;
