import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { fromMillis } from '#platform/dates.ts';
import type { Names, Vetting } from '#platform/net/public-address.ts';
import type { Service } from '#platform/service.ts';
import type { Behaviour } from '../../../test/support/behaviours.ts';
import * as behaviours from '../../../test/support/behaviours.ts';
import { authority } from '../../../test/support/certificates.ts';
import { nameServer } from '../../../test/support/name-server.ts';
import { canary } from '../../../test/support/picture-server.ts';
import { receiver } from '../../../test/support/receivers.ts';
import { certificateFor } from '../../../test/support/webhooks.ts';
import { sendAttempt } from './attempt.ts';
import { closeClients } from './clients.ts';
import { newSecret } from './secret.ts';
import type { Letter } from './signature.ts';

/** As much of a service as an attempt takes. */
function serviceTo(t: TestContext, names: Names, allow: readonly string[] = ['127.0.0.1/32']): Service {
  const webhooksTo: Vetting = { names, allow, ownHosts: [] };
  const service = { webhooksTo } as Service;
  t.after(() => closeClients(service));
  return service;
}

const here: Names = { resolve4: async () => ['127.0.0.1'], resolve6: async () => [] } as unknown as Names;
const dealerId = '00000000-0000-4000-8000-000000000001';

function letterTo(url: string, fields: Partial<Letter> = {}): Letter {
  return {
    dealerId,
    endpointId: crypto.randomUUID(),
    url,
    secrets: [newSecret()],
    eventId: crypto.randomUUID(),
    eventType: 'vehicle.created',
    sequence: 7,
    body: '{"id":"evt_x","data":{"object":{"make":"Škoda"}}}',
    signedAt: fromMillis(Date.now()),
    ...fields,
  };
}

/** A connection is free again one turn of the loop after its answer. */
const turn = () => new Promise<void>((done) => setImmediate(done));

/** A receiver by its name, of which there is a valid certificate. */
async function hooks(t: TestContext, behaves: Behaviour) {
  const one = await receiver(t, certificateFor('hooks.example'), () => behaves);
  return { ...one, url: one.at('/in').replace('127.0.0.1', 'hooks.example') };
}

test('what is received is verified by the libraries that are there: Stripe’s, and those of Standard Webhooks, with one secret and with two', async (t) => {
  const service = serviceTo(t, here);
  const { url, receipts } = await hooks(t, behaviours.takes);
  const [newer, older] = [newSecret(), newSecret()];
  for (const secrets of [[newer], [newer, older]]) {
    const { success } = await sendAttempt(service, letterTo(url, { secrets }));
    assert.ok(success);
    const { body, headers } = receipts().at(-1)!;
    const ours = String(headers['service-signature']);
    assert.equal(ours.split(',').filter((part) => part.startsWith('v1=')).length, secrets.length);
    for (const secret of secrets) {
      const standard = new Webhook(secret);
      assert.equal((Stripe.webhooks.constructEvent(body, ours, secret) as { id: string }).id, 'evt_x');
      assert.equal((standard.verify(body, headers as Record<string, string>) as { id: string }).id, 'evt_x');

      const altered = Buffer.from(body.toString().replace('evt_x', 'evt_y'));
      assert.throws(() => Stripe.webhooks.constructEvent(altered, ours, secret));
      assert.throws(() => standard.verify(altered, headers as Record<string, string>));
      const turned = (text: string) => text.replaceAll(/(v1[=,].{10})(.)/g, (_, kept, one) => kept + (one === 'a' ? 'b' : 'a'));
      assert.throws(() => Stripe.webhooks.constructEvent(body, turned(ours), secret));
      const forged = { ...headers, 'webhook-signature': turned(String(headers['webhook-signature'])) };
      assert.throws(() => standard.verify(body, forged as unknown as Record<string, string>));
    }
    assert.throws(() => Stripe.webhooks.constructEvent(body, ours, newSecret()));
  }
});

test('what was signed 301 seconds ago is refused, and 299 seconds ago is not', async (t) => {
  const service = serviceTo(t, here);
  const { url, receipts } = await hooks(t, behaviours.takes);
  const secret = newSecret();
  for (const [secondsAgo, taken] of [
    [299, true],
    [301, false],
  ] as const) {
    await sendAttempt(service, letterTo(url, { secrets: [secret], signedAt: fromMillis(Date.now() - secondsAgo * 1_000) }));
    const { body, headers } = receipts().at(-1)!;
    const verify = [
      () => Stripe.webhooks.constructEvent(body, String(headers['service-signature']), secret),
      () => new Webhook(secret).verify(body, headers as Record<string, string>),
    ];
    for (const one of verify) taken ? one() : assert.throws(one);
  }
});

test('an attempt says which event it brings, and its number, in headers', async (t) => {
  const service = serviceTo(t, here);
  const { url, receipts } = await hooks(t, behaviours.takes);
  const letter = letterTo(url);
  const { requestHeaders } = await sendAttempt(service, letter);
  const [{ headers, body }] = receipts() as [ReturnType<typeof receipts>[number]];
  assert.equal(body.toString(), letter.body);
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['service-event-id'], `evt_${letter.eventId}`);
  assert.equal(headers['webhook-id'], `evt_${letter.eventId}`);
  assert.equal(headers['service-event-type'], 'vehicle.created');
  assert.equal(headers['service-event-sequence'], '7');
  assert.equal(headers['accept-encoding'], undefined, 'so that nothing small unpacks into something large');
  for (const [name, value] of Object.entries(requestHeaders)) assert.equal(headers[name.toLowerCase()], value, name);
});

test('the status decides: 2xx is a success, anything else is not, and a redirect is not followed', async (t) => {
  const service = serviceTo(t, here);
  const followed = await canary(t);
  for (const [behaves, status, error] of [
    [behaviours.takes, 200, null],
    [behaviours.answers(204), 204, null],
    [behaviours.answers(299), 299, null],
    [behaviours.answers(410), 410, 'status'],
    [behaviours.answers(500), 500, 'status'],
    [behaviours.answers(304), 304, 'redirect'],
    [behaviours.redirectsTo(`http://127.0.0.1:${followed.port}/`), 302, 'redirect'],
    [behaviours.takesAfterInforming(103), 200, null],
  ] as const) {
    const { url } = await hooks(t, behaves);
    const outcome = await sendAttempt(service, letterTo(url));
    assert.deepEqual([outcome.responseStatus, outcome.error, outcome.success], [status, error, error === null]);
  }
  assert.equal(followed.connections(), 0);
});

test('what a receiver does is an outcome: it resets, it babbles, it is not there', async (t) => {
  const service = serviceTo(t, here);
  for (const behaves of [behaviours.resets, behaviours.babbles, behaviours.switches]) {
    const { url } = await hooks(t, behaves);
    const outcome = await sendAttempt(service, letterTo(url));
    assert.deepEqual([outcome.success, outcome.responseStatus, outcome.responseBody, outcome.error], [false, null, null, 'connect']);
  }
  assert.equal((await sendAttempt(service, letterTo('https://hooks.example:1/'))).error, 'connect');
  const unknown = serviceTo(t, { resolve4: async () => [], resolve6: async () => [] } as unknown as Names);
  assert.equal((await sendAttempt(unknown, letterTo('https://hooks.example/'))).error, 'dns');
});

test('a receiver has ten seconds for everything: one that is silent fails, one that drips its head fails, one that drips its body has taken it', async (t) => {
  const service = serviceTo(t, here);
  const outcomes = await Promise.all(
    [behaviours.hangs, behaviours.dripsItsHead, behaviours.dripsItsBody].map(async (behaves) => {
      const { url } = await hooks(t, behaves);
      return sendAttempt(service, letterTo(url));
    }),
  );
  assert.deepEqual(
    outcomes.map(({ success, responseStatus, error }) => [success, responseStatus, error]),
    [
      [false, null, 'timeout'],
      [false, null, 'timeout'],
      [true, 200, null],
    ],
  );
  assert.match(outcomes[2]!.responseBody!, /^\.{5,11}$/);
  for (const { durationMs } of outcomes) assert.ok(durationMs >= 9_990, 'and it has all of them');
});

test('of a body of a gigabyte 10 KiB are kept, and not much more is read', async (t) => {
  const service = serviceTo(t, here);
  const { url } = await hooks(t, behaviours.floods);
  const before = process.memoryUsage().rss;
  const { success, responseStatus, responseBody } = await sendAttempt(service, letterTo(url));
  assert.deepEqual([success, responseStatus, responseBody!.length], [true, 200, 10_240]);
  assert.ok(process.memoryUsage().rss - before < 200 * 1024 * 1024);
});

test('whatever bytes are answered, they are kept as a text that can be stored', async (t) => {
  const service = serviceTo(t, here);
  const bytes = Buffer.from([0x61, 0, 0xff, 0xfe, 0xed, 0xa0, 0x80, 0xef, 0xbb, 0xbf, 0xc5]);
  const { url } = await hooks(t, (response) => response.writeHead(200).end(bytes));
  const { responseBody } = await sendAttempt(service, letterTo(url));
  assert.ok(responseBody!.startsWith('a\ufffd\ufffd\ufffd'));
  assert.ok(responseBody!.isWellFormed() && !responseBody!.includes('\u0000'));
});

test('a certificate is that of the name, valid, and by an authority that is trusted', async (t) => {
  const service = serviceTo(t, here);
  certificateFor('hooks.example');
  for (const [what, certificate] of [
    ['of another name', certificateFor('other.example')],
    ['expired', certificateFor('hooks.example', { expired: true })],
    ['by nobody known', authority().vouchFor('hooks.example')],
  ] as const) {
    const one = await receiver(t, certificate, () => behaviours.takes);
    const { error } = await sendAttempt(service, letterTo(one.at('/').replace('127.0.0.1', 'hooks.example')));
    assert.equal(error, 'tls', what);
    assert.equal(one.receipts().length, 0, what);
  }
});

test('nothing is connected to that is not public, however it is given: every form, mixed answers, a name that turns', async (t) => {
  const { port, connections } = await canary(t);
  const names = await nameServer(t, (name, asked) => {
    if (name === 'mixed.example') return ['93.184.215.14', '127.0.0.1'];
    if (name === 'mixed6.example') return ['2606:4700:4700::1111', '::1'];
    if (name === 'turning.example') return [asked > 1 ? '127.0.0.1' : '10.0.0.1'];
    return ['127.0.0.1'];
  });
  const service = serviceTo(t, names, []);
  const hosts = [
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.0.0.1.', '①②⑦.⓪.⓪.①', '0.0.0.0', '[::1]', '[::]'],
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::1]', '[::5efe:7f00:1]'],
    ...['home.example', 'mixed.example', 'mixed6.example', 'turning.example', 'turning.example', 'localhost'],
  ];
  for (const host of hosts) {
    const outcome = await sendAttempt(service, letterTo(`https://${host}:${port}/`));
    assert.deepEqual([host, outcome.error, outcome.success], [host, 'blocked_address', false]);
    assert.doesNotMatch(JSON.stringify(outcome.responseBody), /127|10\.0/);
  }
  assert.equal(connections(), 0);
});

test('the address that was judged is the one that is called, however the name turns meanwhile', async (t) => {
  const { port, connections } = await canary(t);
  const right = await hooks(t, behaviours.takes);
  // Each further question would lead to the canary.
  const names = await nameServer(t, (_name, asked) => (asked === 1 ? ['127.0.0.1'] : ['127.0.0.2']));
  const service = serviceTo(t, names);
  const endpointId = crypto.randomUUID();
  for (let i = 0; i < 3; i++) {
    assert.ok((await sendAttempt(service, letterTo(right.url, { endpointId }))).success);
    await turn();
  }
  assert.equal((await sendAttempt(service, letterTo(`https://hooks.example:${port}/`))).error, 'blocked_address');
  assert.deepEqual([right.connections(), connections()], [1, 0]);
});

test('no proxy of the environment is used, and no switch of it makes certificates matter less', async (t) => {
  const proxy = await canary(t);
  const settings = {
    HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
    https_proxy: `http://127.0.0.1:${proxy.port}`,
    ALL_PROXY: `http://127.0.0.1:${proxy.port}`,
    NODE_USE_ENV_PROXY: '1',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  };
  Object.assign(process.env, settings);
  t.after(() => {
    for (const name of Object.keys(settings)) delete process.env[name];
  });
  const service = serviceTo(t, here);
  const { url } = await hooks(t, behaviours.takes);
  assert.ok((await sendAttempt(service, letterTo(url))).success);
  const stranger = await receiver(t, authority().vouchFor('hooks.example'), () => behaviours.takes);
  assert.equal((await sendAttempt(service, letterTo(stranger.at('/').replace('127.0.0.1', 'hooks.example')))).error, 'tls');
  assert.equal(proxy.connections(), 0);
});

test('an endpoint keeps its connections to itself, and loses them with its address', async (t) => {
  const service = serviceTo(t, here);
  const one = await hooks(t, behaviours.takes);
  const other = await hooks(t, behaviours.takes);
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
  for (let i = 0; i < 5; i++) {
    await sendAttempt(service, letterTo(one.url, { endpointId: first }));
    await turn();
  }
  assert.equal(one.connections(), 1, 'kept from one to the next');
  await sendAttempt(service, letterTo(one.url, { endpointId: second }));
  assert.equal(one.connections(), 2, 'and no other endpoint’s, be it at the same address');
  await sendAttempt(service, letterTo(other.url, { endpointId: first }));
  await sendAttempt(service, letterTo(one.url, { endpointId: first }));
  assert.deepEqual([one.connections(), other.connections()], [3, 1]);
});

test('an answer that came too much is nobody’s', async (t) => {
  const service = serviceTo(t, here);
  const { url, receipts } = await hooks(t, behaviours.answersTwice);
  const endpointId = crypto.randomUUID();
  const outcomes = [];
  for (let i = 0; i < 3; i++) outcomes.push((await sendAttempt(service, letterTo(url, { endpointId }))).success);
  assert.deepEqual(outcomes, [false, false, false]);
  assert.equal(receipts().length, 3);
});
