import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { openSync, writeSync } from 'node:fs';
import type { Behaviour } from '../test/support/behaviours.ts';
import type { Receipt } from '../test/support/receivers.ts';
import { receiver } from '../test/support/receivers.ts';
import type { Received } from './records.ts';
import { mannerOf, wayOf } from './ways.ts';

/** What the sink is told at its start. */
export interface SinkOrder {
  readonly journal: string;
  /** By what they show, `good` among them. */
  readonly certificates: Readonly<Record<string, { key: string; cert: string }>>;
}

/** What it is told later: the secrets of a path. */
export interface Introduction {
  readonly path: string;
  readonly secrets: readonly string[];
}

// The receivers of a run, in a process that no fault touches: what comes in is written down before it is answered.
const [order] = (await once(process, 'message')) as [SinkOrder];
const secrets = new Map<string, readonly string[]>();
let mended = false;
process.on('message', (said: Introduction | 'mend') => {
  if (said === 'mend') mended = true;
  else secrets.set(said.path, said.secrets);
});
process.once('SIGTERM', () => process.exit());

const journal = openSync(order.journal, 'a');
const behaviours = new Map<string, Behaviour>();

const behaves = (path: string): Behaviour => {
  const known = behaviours.get(path) ?? mannerOf(wayOf(path)).behaves(() => mended);
  behaviours.set(path, known);
  return known;
};

const ends = { after: () => undefined };
const servers = await Promise.all(
  Object.entries(order.certificates).map(
    async ([shown, certificate]) => [shown, await receiver(ends, certificate, behaves, note)] as const,
  ),
);
process.send?.({ urls: Object.fromEntries(servers.map(([shown, server]) => [shown, server.at('')])) });

function note(receipt: Receipt): void {
  const { path, eventId, hash, at, port, headers } = receipt;
  const signature = String(headers['service-signature']);
  const line: Received = { path, eventId, hash, at, port, signature, genuine: isGenuine(receipt) };
  writeSync(journal, `${JSON.stringify(line)}\n`);
}

/** As the documents for receivers say, by both kinds of signature. */
function isGenuine({ path, eventId, body, headers, at }: Receipt): boolean {
  const parts = String(headers['service-signature'])
    .split(',')
    .map((part) => part.split(/=(.*)/s) as [string, string]);
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  const ours = (secrets.get(path) ?? []).map((secret) => ({
    plain: createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex'),
    standard: createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
      .update(`${eventId}.${time}.`)
      .update(body)
      .digest('base64'),
  }));
  const standard = String(headers['webhook-signature']).split(' ');
  return (
    Math.abs(at / 1000 - Number(time)) < 300 &&
    headers['webhook-id'] === eventId &&
    headers['webhook-timestamp'] === time &&
    JSON.parse(body.toString()).id === eventId &&
    ours.some(({ plain }) => parts.some(([name, value]) => name === 'v1' && value === plain)) &&
    ours.some(({ standard: value }) => standard.includes(`v1,${value}`))
  );
}
