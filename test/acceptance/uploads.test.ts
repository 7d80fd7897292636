import assert from 'node:assert/strict';
import { createServer, IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, Socket } from 'node:net';
import { test } from 'node:test';
import { limits } from '#platform/contract.ts';
import { Refusal } from '#platform/errors.ts';
import { repeatable } from '#platform/http/once.ts';
import { receiveParts } from '#platform/http/uploads.ts';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import { jpeg, multipart } from '../support/pictures.ts';
import { sendRaw, sendSlowly } from '../support/raw.ts';
import { until } from '../support/until.ts';

const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };
const boundary = 'boundary-of-a-test';
const declared = { 'content-type': `multipart/form-data; boundary=${boundary}` };

async function upload(dealer: Dealership) {
  const { id } = await dealer.api.post('/v1/vehicles', car).succeeds(201);
  const path = `/v1/vehicles/${id}/images`;
  return { path, send: (body: Buffer | undefined, headers: Record<string, string> = declared) => dealer.api.post(path, body, headers) };
}

/** The port of this file's API. */
const listening = async ({ app }: Dealership): Promise<number> => {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
};

const headOf = (path: string, key: string | null, length: number) =>
  Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${declared['content-type']}\r\nContent-Length: ${length}\r\n\r\n`,
  );

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
  const says = async (body: Buffer, message: string) => assert.equal((await send(body).refuses(413, 'body_too_large')).message, message);
  await says(multipart({ file: Buffer.concat([whole, Buffer.alloc(1)]) }).body, 'A file is larger than 25 MiB.');
  await says(multipart({ alt: 'a'.repeat(70_000), file: await jpeg() }).body, 'A text is larger than 64 KiB.');
  await says(Buffer.alloc(27 * 1024 * 1024), 'The body is larger than 26 MiB.');
  await says(multipart({ file: whole.subarray(0, 14e6), another: whole.subarray(0, 14e6) }).body, 'The body is larger than 26 MiB.');
});

test('a body whose length is not said is read no further than one may be long, whatever its parts are called', async () => {
  const dealer = await dealership();
  const { path } = await upload(dealer);
  const port = await listening(dealer);
  let sent = 0;
  async function* parts() {
    for (let n = 0; n < 19; n++) {
      yield Buffer.from(`${n > 0 ? '\r\n' : ''}${part(`unknown${n}`)}`);
      for (let mebibytes = 0; mebibytes < 24; mebibytes++) {
        sent++;
        yield Buffer.alloc(1024 * 1024);
      }
    }
  }
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { ...declared, authorization: `Bearer ${dealer.api.key}` },
    body: ReadableStream.from(parts()),
    duplex: 'half',
  } as RequestInit);
  assert.deepEqual([answer.status, ((await answer.json()) as { code: string }).code], [413, 'body_too_large']);
  assert.ok(sent < 19 * 24, `${sent} MiB were taken`);
});

test('a text is UTF-8, and a body is not packed', async () => {
  const { send } = await upload(await dealership());
  const { body } = multipart({ alt: '~~', file: await jpeg() });
  const broken = Buffer.from(body);
  broken.set([0xc3, 0x28], broken.indexOf('~~'));
  assert.deepEqual((await send(broken).refuses(422, 'validation_failed')).errors, { alt: ['Not valid UTF-8.'] });
  const packed = await send(body, { ...declared, 'content-encoding': 'gzip' }).refuses(422, 'validation_failed');
  assert.deepEqual(packed.errors, { body: ['Send the body without Content-Encoding.'] });
  const { body: french } = multipart({ alt: 'À côté, 前', file: await jpeg() });
  assert.equal((await send(french, { ...declared, 'content-encoding': 'identity' }).succeeds(201)).alt, 'À côté, 前');
});

test('an upload may come slowly, but not stand still, and not for ever', async (t) => {
  const dealer = await dealership();
  const { path } = await upload(dealer);
  const { body } = multipart({ file: await jpeg() });
  const pieces = Array.from({ length: 5 }, (_, n) => body.subarray((n * body.length) / 5, ((n + 1) * body.length) / 5));
  // Longer in all than the pause that a body may make here.
  const [slow] = await sendSlowly(await listening(dealer), [headOf(path, dealer.api.key, body.length), ...pieces], 150);
  assert.equal(slow?.status, 201);

  const received = new Promise<unknown>((done) => {
    const server = createServer((request) => void receiveParts(request, 300).catch(done));
    server.listen(0, '127.0.0.1', () => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.write(
        `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${declared['content-type']}\r\nContent-Length: 1000000\r\n\r\n${part('file')}`,
      );
      const dripping = setInterval(() => socket.write('x'), 10);
      t.after(() => {
        clearInterval(dripping);
        socket.destroy();
        server.close();
      });
    });
  });
  assert.deepEqual(await received, new Refusal('body_not_received', 'The body did not arrive whole within 3 s.'));
});

test('uploads find room, or are asked to come again, and those of one dealership leave room for others', async (t) => {
  const [dealer, other] = [await dealership(), await dealership()];
  const { path } = await upload(dealer);
  const port = await listening(dealer);
  /** Its body begins to come, and does so until it is ended. */
  const begin = () => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(headOf(path, dealer.api.key, limits.file));
    const coming = setInterval(() => socket.write('x'), 50);
    const end = () => {
      clearInterval(coming);
      socket.destroy();
    };
    t.after(end);
    return end;
  };
  const { body } = multipart({ file: await jpeg() });
  const ask = async (api: { key: string | null }, length = body.length) => {
    const [answer] = await sendRaw(port, Buffer.concat([headOf(path, api.key, length), body]));
    return answer!;
  };
  const ends = Array.from({ length: 3 }, begin);
  // As soon as all three are in hand, a fourth as large has no room; a small one still has.
  let refused = await ask(dealer.api, limits.file);
  for (let asked = 1; asked < 8 && refused.status !== 503; asked++) refused = await ask(dealer.api, limits.file);
  assert.deepEqual([refused.status, refused.body.code, refused.headers['retry-after']], [503, 'service_unavailable', '5']);
  assert.equal((await ask(dealer.api)).status, 201);
  assert.equal((await ask(other.api)).status, 404, 'another dealership is heard');
  for (const end of ends) end();
  await until(async () => (await ask(dealer.api, limits.file)).status === 422);
});

test('several uploads at once all arrive', async () => {
  const dealer = await dealership();
  const { path, send } = await upload(dealer);
  const photos = await Promise.all(['red', 'lime', 'blue', 'teal', 'navy', 'pink', 'gold', 'grey'].map((colour) => jpeg({ colour })));
  const added = await Promise.all(photos.map((file) => send(multipart({ file }).body).succeeds(201)));
  const { images } = await dealer.api.get(path.replace('/images', '')).succeeds();
  assert.deepEqual(new Set(images.map(({ id }: { id: string }) => id)), new Set(added.map(({ id }) => id)));
  assert.deepEqual(
    images.map(({ position }: { position: number }) => position),
    [0, 1, 2, 3, 4, 5, 6, 7],
  );
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
  const port = await listening(dealer);
  const head = (length: number) => headOf(path, dealer.api.key, length);
  const { body } = multipart({ file: await jpeg() });

  const [created] = await sendRaw(port, Buffer.concat([head(body.length), body]));
  assert.equal(created?.status, 201);
  const [stopped] = await sendRaw(port, Buffer.concat([head(body.length), body.subarray(0, 200)]));
  assert.deepEqual([stopped?.status, stopped?.body.code], [422, 'body_not_received']);
  const large = Buffer.concat([Buffer.from(part('file')), Buffer.alloc(limits.file + 10_000)]);
  const [refused] = await sendRaw(port, Buffer.concat([head(large.length), large]));
  assert.deepEqual([refused?.status, refused?.body.code], [413, 'body_too_large']);

  // Gone in the middle of the file: nobody is left to answer.
  const socket = connect(port, '127.0.0.1');
  socket.write(Buffer.concat([head(body.length), body.subarray(0, 300)]), () => socket.destroy());
  await until(async () => socket.destroyed && (await connectionsOf(dealer)) === 0);
  const [after] = await sendRaw(port, Buffer.concat([head(body.length), body]));
  assert.equal(after?.status, 201);
});

test('parts are hashed for who may repeat them, and for nobody else', () => {
  const request = (headers: Record<string, string>) =>
    Object.assign(new IncomingMessage(new Socket()), { method: 'POST', url: '/', headers, rawHeaders: Object.entries(headers).flat() });
  let hashed = 0;
  const identifying = () => ++hashed;
  assert.deepEqual([repeatable(request({}), identifying), hashed], [null, 0]);
  assert.deepEqual([repeatable(request({ 'idempotency-key': 'k' }), identifying)?.key, hashed], ['k', 1]);
});

const connectionsOf = ({ app }: Dealership): Promise<number> =>
  new Promise((done) => app.server.getConnections((_error, count) => done(count)));
