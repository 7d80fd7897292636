import type { Keyring } from '#platform/secrets.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';

/** Marks a form as ours, for one session, or for one browser before there is a session: another site can neither make nor read it. */
export const formMark = (keyring: Keyring, holder: string): Html =>
  html`<input type="hidden" name="form" value="${keyring.sign('form', holder).toString('base64url')}">`;

/** Whether a form was made for this session or browser. */
export const isFormFor = (keyring: Keyring, holder: string, form: URLSearchParams): boolean =>
  keyring.verifies('form', holder, Buffer.from(form.get('form') ?? '', 'base64url'));

/** What was wrong with a form; read out when the page opens. */
export const complaintOf = (text: string): Html => html`<p class="complaint" role="alert">${text}</p>`;
