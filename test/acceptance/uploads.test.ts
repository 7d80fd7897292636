import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { test } from 'node:test';
import { limits } from '#platform/contract.ts';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import { jpeg, multipart } from '../support/pictures.ts';
import { sendRaw } from '../support/raw.ts';
import { until } from '../support/until.ts';

const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };
const boundary = 'boundary-of-a-test';
const declared = { 'content-type': `multipart/form-data; boundary=${boundary}` };

async function upload(dealer: Dealership) {
  const { id } = await dealer.api.post('/v1/vehicles', car).succeeds(201);
  const path = `/v1/vehicles/${id}/images`;
  return { path, send: (body: Buffer | undefined, headers: Record<string, string> = declared) => dealer.api.post(path, body, headers) };
}

const part = (name: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\n`;

test('a multipart body that never came, or not to its end, is body_not_received', async () => {
  const { send } = await upload(await dealership());
  const { body } = multipart({ file: await jpeg() });
  for (const [what, sent, headers] of [
    ['no body', undefined, declared],
    ['no body and no type', undefined, {}],
    ['an empty body', Buffer.alloc(0), declared],
    ['no part', Buffer.from(`--${boundary}--\r\n`), declared],
    ['no boundary named', body, { 'content-type': 'multipart/form-data' }],
    ['another boundary', body, { 'content-type': 'multipart/form-data; boundary=other' }],
    ['no multipart inside', Buffer.from('{"file":1}'), declared],
    ['an end in the middle of the file', body.subarray(0, body.length - 60), declared],
    ['an end in the middle of the last boundary', body.subarray(0, body.length - 6), declared],
    ['an end in a part’s header', Buffer.from(part('file').slice(0, 40)), declared],
    ['an end before a part’s content', Buffer.from(part('file')), declared],
  ] as const) {
    const answer = await send(sent, headers);
    assert.deepEqual([answer.status, answer.body.code], [422, 'body_not_received'], what);
  }
});

test('a body of another kind, and parts that cannot be told apart, are errors of shape', async () => {
  const { send } = await upload(await dealership());
  const picture = await jpeg();
  const { body } = multipart({ file: picture });
  for (const headers of [
    { 'content-type': 'application/json' },
    { 'content-type': 'image/jpeg' },
    { 'content-type': 'multipart/mixed; boundary=x' },
  ]) {
    assert.deepEqual(Object.keys((await send(body, headers).refuses(422, 'validation_failed')).errors), ['body']);
  }
  const twice = Buffer.concat([body.subarray(0, body.length - boundary.length - 6), body]);
  assert.deepEqual((await send(twice).refuses(422, 'validation_failed')).errors, { file: ['Sent more than once.'] });
  const many = multipart(Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`part${n}`, 'x'])));
  await send(many.body).refuses(422, 'validation_failed');
  await send(multipart({ __proto__x: 'x', file: picture }).body).refuses(422, 'validation_failed');
  const proto = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="__proto__"\r\n\r\nx\r\n--${boundary}--\r\n`);
  await send(proto).refuses(422, 'validation_failed');
});

test('a file of 25 MiB arrives; a byte more is 413', async () => {
  const { send } = await upload(await dealership());
  const whole = Buffer.alloc(limits.file);
  (await jpeg()).copy(whole); // What follows the end of a picture is no part of it.
  await send(multipart({ file: whole }).body).succeeds(201);
  await send(multipart({ file: Buffer.concat([whole, Buffer.alloc(1)]) }).body).refuses(413, 'body_too_large');
  await send(multipart({ alt: 'a'.repeat(70_000), file: await jpeg() }).body).refuses(413, 'body_too_large');
  await send(Buffer.alloc(27 * 1024 * 1024)).refuses(413, 'body_too_large');
});

test('who may not upload is refused before the body is read', async () => {
  const dealer = await dealership();
  const { path } = await upload(dealer);
  const reader = await dealer.apiWith({ scopes: ['vehicles:read'] });
  await reader.post(path, Buffer.from('anything'), declared).refuses(403, 'insufficient_scope');
  await dealer.api.as(null).post(path, Buffer.from('anything'), declared).refuses(401, 'missing_api_key');
  await dealer.api.post('/v1/vehicles/none/images', undefined, declared).refuses(422, 'body_not_received');
});

test('over a real connection: too large a body is answered while it comes, one that stops is given up, and the API goes on', async () => {
  const dealer = await dealership();
  const { path } = await upload(dealer);
  await dealer.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = dealer.app.server.address() as AddressInfo;
  const head = (length: number) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${dealer.api.key}\r\nContent-Type: ${declared['content-type']}\r\nContent-Length: ${length}\r\n\r\n`;
  const { body } = multipart({ file: await jpeg() });

  const [created] = await sendRaw(port, Buffer.concat([Buffer.from(head(body.length)), body]));
  assert.equal(created?.status, 201);
  const [stopped] = await sendRaw(port, Buffer.concat([Buffer.from(head(body.length)), body.subarray(0, 200)]));
  assert.deepEqual([stopped?.status, stopped?.body.code], [422, 'body_not_received']);
  const large = Buffer.concat([Buffer.from(part('file')), Buffer.alloc(limits.file + 10_000)]);
  const [refused] = await sendRaw(port, Buffer.concat([Buffer.from(head(large.length)), large]));
  assert.deepEqual([refused?.status, refused?.body.code], [413, 'body_too_large']);

  // Gone in the middle of the file: nobody is left to answer.
  const socket = connect(port, '127.0.0.1');
  socket.write(Buffer.concat([Buffer.from(head(body.length)), body.subarray(0, 300)]), () => socket.destroy());
  await until(async () => socket.destroyed && (await connectionsOf(dealer)) === 0);
  const [after] = await sendRaw(port, Buffer.concat([Buffer.from(head(body.length)), body]));
  assert.equal(after?.status, 201);
});

const connectionsOf = ({ app }: Dealership): Promise<number> =>
  new Promise((done) => app.server.getConnections((_error, count) => done(count)));
