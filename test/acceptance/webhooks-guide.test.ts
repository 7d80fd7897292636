import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listen } from '../../src/app/api.ts';
import { dealership } from '../support/dealership.ts';
import { endpointBy, receiver } from '../support/webhooks.ts';

// The samples of docs/webhooks.md, as they stand there.

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'forecourt-guide-'));
after(() => rmSync(folder, { recursive: true }));
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

const text = readFileSync(join(root, 'docs/webhooks.md'), 'utf8');
const samples = await Promise.all(
  [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ''], i) => {
    const file = join(folder, `sample-${i}.mts`);
    writeFileSync(file, code);
    return import(file);
  }),
);
const verifying = samples.filter((sample) => 'verified' in sample) as {
  verified: (body: string, headers: Record<string, string>, secret: string) => { id: string };
}[];
const [{ catchUp } = { catchUp: undefined }] = samples.filter((sample) => 'catchUp' in sample);

/** The headers of a delivery, signed by the rules as they are written for receivers. */
function signed(body: string, secret: string, secondsAhead: number): Record<string, string> {
  const t = String(Math.floor(Date.now() / 1000) + secondsAhead);
  const { id } = JSON.parse(body);
  const hex = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
  const base64 = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${id}.${t}.${body}`)
    .digest('base64');
  return {
    'service-signature': `t=${t},v1=${hex}`,
    'webhook-id': id,
    'webhook-timestamp': t,
    'webhook-signature': `v1,${base64}`,
  };
}

test('the samples that verify take a delivery as it arrives, with one signature and with two, and nothing else', async (t) => {
  const { api } = await dealership();
  const there = await receiver(t);
  const { id, secret } = await endpointBy(api, { url: there.url });
  await api.post(`/v1/webhook-endpoints/${id}/test`).succeeds();
  const rolled = await api.post(`/v1/webhook-endpoints/${id}/roll-secret`).succeeds();
  await api.post(`/v1/webhook-endpoints/${id}/test`).succeeds();
  const [one, two] = there.arrivals as [(typeof there.arrivals)[number], (typeof there.arrivals)[number]];
  assert.equal(verifying.length, 2);
  for (const { verified } of verifying) {
    const taken = (body: string, headers: Readonly<Record<string, string>>, key: string) => verified(body, headers, key).id;
    assert.equal(taken(one.body, one.headers, secret), one.headers['service-event-id']);
    for (const key of [secret, rolled.secret]) assert.equal(taken(two.body, two.headers, key), two.headers['service-event-id']);
    assert.equal(taken(one.body, signed(one.body, secret, -290), secret), one.headers['service-event-id']);
    assert.throws(() => taken(one.body, one.headers, rolled.secret));
    assert.throws(() => taken(one.body.replace('ping', 'pong'), one.headers, secret));
    assert.throws(() => taken(one.body, two.headers, secret));
    assert.throws(() => taken(one.body, {}, secret));
    for (const secondsAhead of [-301, 302]) assert.throws(() => taken(one.body, signed(one.body, secret, secondsAhead), secret));
  }
});

test('the sample that catches up hands over every event once, and goes on where it stopped', async () => {
  const { api, app } = await dealership();
  const url = await listen(app, '127.0.0.1', 0);
  const seen: string[] = [];
  const take = async ({ id }: { id: string }) => void seen.push(id);
  const car = () => api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta' }).succeeds(201);
  for (let n = 0; n < 101; n++) await car();
  const cursor = await catchUp(url, api.key, take);
  assert.deepEqual([seen.length, new Set(seen).size], [101, 101]);
  await car();
  await catchUp(url, api.key, take, cursor);
  assert.deepEqual([seen.length, new Set(seen).size], [102, 102]);
});
