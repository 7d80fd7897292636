import type { Shown } from '#platform/http/pages.ts';
import { at } from './addresses.ts';
import { cardPage } from './frame.ts';
import { html } from './html.ts';

/** The page that tells why there is none. */
export function trouble(status: number, requestId: string): string {
  const { title, words } = troubles[status] ?? (status < 500 ? unreadable : fault);
  const number = status >= 500 && html`<p class="quiet">The log knows it as <code>${requestId}</code>.</p>`;
  return cardPage(title, html`<h1>${title}</h1><p>${words}</p>${number}${homeward}`);
}

/** A form that was made for another sign-in, or for none. */
export const outdatedForm = (): Shown => ({
  status: 403,
  html: cardPage(
    'Out of date',
    html`<h1>This page was out of date</h1>
      <p>Somebody signed in anew after it was opened. Nothing was done: go back, load it again and decide once more.</p>
      ${homeward}`,
  ),
});

/** A request to connect that is not as it was made, or too old. */
export const brokenRequest = (): Shown => ({
  status: 400,
  html: cardPage(
    'Cannot be used',
    html`<h1>This request cannot be used</h1>
      <p>It is more than an hour old, was altered on its way, or the app is no longer registered. Nothing was connected.</p>
      <p>Go back to the app and connect again from there.</p>
      ${homeward}`,
  ),
});

const homeward = html`<p><a href="${at.home}">Go to the start page</a></p>`;

const unreadable = { title: 'Not understood', words: 'This was no form of ours. Nothing was done.' };
const fault = { title: 'Something went wrong', words: 'The fault is ours. Nothing was done by half: try again in a moment.' };

const troubles: Record<number, { readonly title: string; readonly words: string }> = {
  403: { title: 'Not from here', words: 'This form was sent by another site. Nothing was done.' },
  404: { title: 'Nothing here', words: 'There is no such page, or it is not yours to see.' },
  405: { title: 'Not this way', words: 'This address is not opened like that.' },
  413: { title: 'Too much', words: 'What was sent is larger than any form of ours. Nothing was done.' },
  503: { title: 'Just a moment', words: 'The system is busy or starting. Try again shortly.' },
};
