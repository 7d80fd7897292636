import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { buildApi, listen } from '../../src/app/api.ts';
import { dealership } from '../support/dealership.ts';
import type { RawAnswer } from '../support/raw.ts';
import { sendRaw } from '../support/raw.ts';
import { recordTraffic } from '../support/traffic.ts';

const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };
const json = 'Content-Type: application/json';
const chunked = 'Transfer-Encoding: chunked';
const mebibyte = 1024 * 1024;

const { app, api, service } = await dealership();
const { port } = new URL(await listen(app, '127.0.0.1', 0));
const key = `Authorization: Bearer ${api.key}`;

/** A message: its first line, its headers beside Host and Authorization, its body. */
function message(line: string, headers: readonly string[] = [], body: string | Buffer = ''): Buffer {
  return Buffer.concat([
    Buffer.from([`${line} HTTP/1.1`, 'Host: api.example', key, ...headers, '', ''].join('\r\n')),
    Buffer.from(body as string),
  ]);
}

const posted = (body: string | Buffer, path = '/v1/vehicles', headers: readonly string[] = [json]) =>
  message(`POST ${path}`, [...headers, `Content-Length: ${Buffer.byteLength(body)}`], body);

const send = async (bytes: Buffer): Promise<RawAnswer> => (await sendRaw(Number(port), bytes))[0]!;

/** The standard body of a refusal, with the request's id in body and header alike; and the server lives on. */
async function refuses(bytes: Buffer, status: number, code: string, about?: string): Promise<RawAnswer> {
  const answer = await send(bytes);
  assert.deepEqual([answer.status, answer.body.code], [status, code], JSON.stringify(answer.body));
  assert.equal(answer.body.success, false);
  assert.equal(typeof answer.body.message, 'string');
  assert.match(answer.headers['x-request-id'] ?? '', /^req_[0-9a-f]{32}$/);
  assert.equal(answer.body.request_id, answer.headers['x-request-id']);
  assert.match(answer.body.doc_url, new RegExp(`#${code}$`));
  assert.equal('errors' in answer.body, code === 'validation_failed');
  if (about) assert.deepEqual(Object.keys(answer.body.errors), [about]);
  assert.equal((await send(message('GET /v1/me'))).status, 200, 'the next request is answered');
  return answer;
}

test('two Host headers are no HTTP request, and none is neither', async () => {
  await refuses(message('GET /v1/me', ['Host: other.example']), 400, 'bad_request');
  await refuses(Buffer.from(`GET /v1/me HTTP/1.1\r\n${key}\r\n\r\n`), 400, 'bad_request');
  assert.equal((await send(Buffer.from(`GET /v1/me HTTP/1.0\r\n${key}\r\n\r\n`))).status, 200, 'HTTP/1.0 needs none');
});

test('two Authorization headers are nobody’s key', async () => {
  await refuses(message('GET /v1/me', [key]), 401, 'invalid_api_key');
  await refuses(message('GET /v1/me', ['Authorization: Bearer other']), 401, 'invalid_api_key');
});

test('two Idempotency-Key headers are no key, even if they say the same', async () => {
  for (const second of ['one', 'two']) {
    const headers = [json, 'Idempotency-Key: one', `Idempotency-Key: ${second}`];
    await refuses(posted(JSON.stringify(car), '/v1/vehicles', headers), 422, 'validation_failed', 'Idempotency-Key');
  }
});

test('a target in absolute form names the same path, whatever its host', async () => {
  const { status, body } = await send(message('GET http://other.example/v1/me'));
  assert.deepEqual([status, body.data.key.lookup], [200, api.key?.split('_')[3]]);
  assert.equal((await send(message('GET HTTPS://other.example:8443/v1/reference/vehicle-types?'))).status, 200);
  await refuses(message('GET http://other.example'), 404, 'not_found');
});

test('a message framed in two ways, or in one that only we might understand, is refused and its connection ends', async () => {
  const body = '2\r\n{}\r\n0\r\n\r\n';
  for (const framing of [
    ['Transfer-Encoding: identity, chunked'],
    ['Transfer-Encoding: gzip, chunked'],
    ['Transfer-Encoding: identity'],
    ['Transfer-Encoding: chunked, chunked'],
    ['Content-Length: 2', chunked],
    ['Content-Length: 2', 'Content-Length: 2'],
    ['Content-Length: 2', 'Content-Length: 12'],
    ['Content-Length: -2'],
    ['Content-Length: 2, 2'],
  ]) {
    const { headers } = await refuses(message('POST /v1/vehicles', [json, ...framing], body), 400, 'bad_request');
    assert.equal(headers.connection, 'close', framing.join());
  }
  await refuses(message('POST /v1/vehicles', [json, chunked], 'ZZ\r\n{}\r\n0\r\n\r\n'), 400, 'bad_request');
  assert.equal(
    (
      await send(
        message('POST /v1/vehicles', [json, chunked], `${JSON.stringify(car).length.toString(16)}\r\n${JSON.stringify(car)}\r\n0\r\n\r\n`),
      )
    ).status,
    201,
  );
});

test('bytes that are not HTTP are answered as such', async () => {
  for (const bytes of [
    '\x16\x03\x01\x02\x00\x01\r\n\r\n',
    'FOO /v1/me HTTP/1.1\r\n\r\n',
    'GET /v1/me HTTP/9.9\r\n\r\n',
    `GET /v1/me HTTP/1.1\r\nX: a\0b\r\n\r\n`,
  ]) {
    const { headers } = await refuses(Buffer.from(bytes, 'latin1'), 400, 'bad_request');
    assert.equal(headers.connection, 'close');
  }
  await refuses(message('CONNECT other.example:443'), 400, 'bad_request');
  await refuses(message(`GET /v1/vehicles?q=${'a'.repeat(20_000)}`), 431, 'bad_request');
  await refuses(message('GET /v1/me', [`X-Long: ${'a'.repeat(20_000)}`]), 431, 'bad_request');
});

test('a path nothing answers is not_found: unknown, misspelt, undecodable, with an endless part', async () => {
  const paths = [
    '/',
    '/v1',
    '/v2/me',
    '/v1/me/',
    '//v1/me',
    '/V1/me',
    '/v1/me;a=b',
    '/v1/vehicles/%ZZ',
    '/v1/branches/%FF',
    '/%',
    '/v1/reference/%E0%A4',
  ];
  const parts = ['%00', '%2e%2e', '..', `${'a'.repeat(101)}`, 'a'.repeat(10_000), '%F0%9F%9A%97', '__proto__', 'constructor', 'toString'];
  for (const path of [...paths, ...parts.flatMap((part) => [`/v1/vehicles/${part}`, `/v1/reference/${part}`])]) {
    await refuses(message(`GET ${path}`), 404, 'not_found');
  }
});

test('a method the path does not take is answered 405 with those it does, HEAD and methods of other protocols too', async () => {
  for (const method of ['PUT', 'DELETE', 'PROPFIND', 'TRACE', 'QUERY']) {
    const { headers } = await refuses(message(`${method} /v1/vehicles`, ['Content-Length: 2'], '{}'), 405, 'method_not_allowed');
    assert.deepEqual(headers.allow?.split(', ').sort(), ['GET', 'OPTIONS', 'POST']);
  }
  const { status, headers, body } = await send(message('HEAD /v1/me'));
  assert.deepEqual([status, headers.allow, body], [405, 'GET, OPTIONS', null]);
  assert.match(headers['x-request-id'] ?? '', /^req_/);
  await refuses(message('GET /v1/vehicles/batch'), 405, 'method_not_allowed');
  assert.equal((await send(message('OPTIONS /v1/me'))).status, 204);
});

test('an unmet Expect header and an Upgrade to another protocol change nothing', async () => {
  const body = JSON.stringify(car);
  for (const expect of ['100-continue', 'the-moon']) {
    assert.equal((await send(posted(body, '/v1/vehicles', [json, `Expect: ${expect}`]))).status, 201);
  }
  assert.equal((await send(message('GET /v1/me', ['Connection: Upgrade', 'Upgrade: websocket']))).status, 200);
});

test('a body that is not JSON in UTF-8 says so under errors.body: malformed, wrong root, wrong type, coded, empty, too deep', async () => {
  const bad = (bytes: Buffer) => refuses(bytes, 422, 'validation_failed', 'body');
  for (const text of ['{"condition":', '{condition: 1}', '[', ' ', '\0', 'NaN', '{} {}', '"x"', '1', 'null', '[]', 'true'])
    await bad(posted(text));
  for (const bytes of [
    [0x22, 0xff, 0x22],
    [0x22, 0xc3],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00],
  ])
    await bad(posted(Buffer.from(bytes)));
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'json',
    ';;;',
    'a/b/c',
  ]) {
    await bad(posted(JSON.stringify(car), '/v1/vehicles', [`Content-Type: ${type}`]));
  }
  await bad(posted(JSON.stringify(car), '/v1/vehicles', []));
  await bad(posted(JSON.stringify(car), '/v1/vehicles', [json, 'Content-Encoding: gzip']));
  await bad(posted(''));
  await bad(message('POST /v1/vehicles'));
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    await bad(posted(open.repeat(10_000) + (open === '[' ? '' : '1') + close.repeat(10_000)));
    await bad(posted(open.repeat(1_000_000)));
  }
});

test('a byte order mark, a charset and the type of a merge patch are accepted, whatever writes', async () => {
  const body = JSON.stringify(car);
  assert.equal((await send(posted(`\ufeff${body}`))).status, 201);
  assert.equal((await send(posted(body, '/v1/vehicles', ['Content-Type: Application/JSON; charset=utf-8']))).status, 201);
  const patched = ['Content-Type: application/merge-patch+json', 'Content-Length: 16'];
  const made = await send(posted(body, '/v1/vehicles', ['Content-Type: application/merge-patch+json']));
  const changed = await send(message(`PATCH /v1/vehicles/${made.body.data.id}`, patched, '{"colour":"Red"}'));
  assert.deepEqual([made.status, changed.status, changed.body.data.colour], [201, 200, 'Red']);
});

test('U+0000 and half a surrogate pair cannot be kept: the field that holds one is named, in body, metadata and query', async () => {
  for (const text of ['a\\u0000b', '\\ud800', 'x\\udc00y']) {
    const body = (field: string) => JSON.stringify({ ...car, [field]: '#' }).replace('#', text);
    for (const field of [
      'make',
      'colour',
      'external_id',
      'description',
      'registration',
      'vin',
      'branch_id',
      'status',
      'first_registered_on',
      'video_url',
    ]) {
      await refuses(posted(body(field)), 422, 'validation_failed', field);
    }
    await refuses(posted(`{"condition":"USED","make":"A","model":"B","metadata":{"a":"${text}"}}`), 422, 'validation_failed', 'metadata.a');
    await refuses(
      posted(`{"condition":"USED","make":"A","model":"B","features":[{"name":"${text}"}]}`),
      422,
      'validation_failed',
      'features.0.name',
    );
    await refuses(posted(`{"condition":"USED","make":"A","model":"B","metadata":{"${text}":"a"}}`), 422, 'validation_failed');
    await refuses(posted(`{"condition":"USED","make":"A","model":"B","${text}":"a"}`), 422, 'validation_failed');
  }
  for (const filter of ['q', 'make', 'registration', 'cursor', 'external_id', 'ids', 'updated_since', 'status', 'limit']) {
    await refuses(message(`GET /v1/vehicles?${filter}=%00`), 422, 'validation_failed', filter);
  }
  await refuses(message('GET /v1/vehicles?%00=1'), 422, 'validation_failed');
});

test('in a batch such text fails its item alone, and what the item was called is kept as far as it can be', async () => {
  const bad = [
    '{"make":"a\\u0000"}',
    '{"a\\u0000b":1}',
    '{"\\ud800":1}',
    '{"external_id":"\\udc00"}',
    '{"registration":7}',
    '"\\u0000"',
    'null',
  ];
  const { status, body } = await send(posted(`[${JSON.stringify(car)},${bad.join()}]`, '/v1/vehicles/batch'));
  assert.equal(status, 202, JSON.stringify(body));
  assert.deepEqual(
    body.data.items.map((item: { status: string }) => item.status),
    ['pending', ...bad.map(() => 'failed')],
  );
  const read = await send(message(`GET /v1/vehicle-batches/${body.data.id}`));
  assert.deepEqual(read.body.data.items, body.data.items);
});

test('__proto__ is a field of nothing and constructor one like any other', async () => {
  for (const field of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    await refuses(posted(JSON.stringify(car).replace('{', `{"${field}":{"x":1},`)), 422, 'validation_failed', field);
    await refuses(message(`GET /v1/vehicles?${field}=1`), 422, 'validation_failed', field);
  }
  const own = (name: string) => posted(`{"condition":"USED","make":"A","model":"B","metadata":{"${name}":"kept"}}`);
  const { status, body } = await send(own('constructor'));
  assert.deepEqual([status, body.data.metadata], [201, { constructor: 'kept' }]);
  const { body: refused } = await refuses(own('__proto__'), 422, 'validation_failed');
  assert.deepEqual(Object.keys(refused.errors), ['__proto__']);
  assert.equal(({} as { x?: number }).x, undefined);
});

test('of 600,000 unknown fields the first hundred are named, and it is looked what was meant for twenty of them alone', async () => {
  const body = `{"condition":"USED",${Array.from({ length: 600_000 }, (_, i) => `"colo${i}":1`).join()}}`;
  const { body: refused } = await refuses(posted(body), 422, 'validation_failed');
  const hinted = (i: number) => (i < 20 ? 'Unknown field. Did you mean "colour"?' : 'Unknown field.');
  assert.deepEqual(refused.errors, Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`colo${i}`, [hinted(i)]])));
});

test('query parameters that are repeated, misspelt or badly encoded are refused by name; a list may be repeated', async () => {
  for (const [query, field] of [
    ['limit=1&limit=2', 'limit'],
    ['limit=%ZZ', 'limit'],
    ['limit=%FF', 'limit'],
    ['limit=', 'limit'],
    ['limit', 'limit'],
    ['include_deleted=true&include_deleted=true', 'include_deleted'],
    ['stauts=FOR_SALE', 'stauts'],
    ['cursor=a&cursor=b', 'cursor'],
    ['status=FOR_SALE,NONE', 'status'],
  ] as const) {
    await refuses(message(`GET /v1/vehicles?${query}`), 422, 'validation_failed', field);
  }
  for (const query of ['limit%00=1', '=1', '%FF=1']) await refuses(message(`GET /v1/vehicles?${query}`), 422, 'validation_failed');
  assert.equal((await send(message('GET /v1/vehicles?status=FOR_SALE&status=RESERVED&make=%46ord+x&'))).status, 200);
});

test('a body that does not arrive whole in time is refused, and its sender is not waited for', async () => {
  const slow = message('POST /v1/vehicles', [json, 'Content-Length: 20'], '{"make":');
  await refuses(slow, 422, 'validation_failed', 'body');
  await refuses(message('POST /v1/vehicles', [json, chunked], '5\r\n{"mak'), 422, 'validation_failed', 'body');
});

test('10 MiB and a byte, and a batch of 32 MiB and a byte, are answered 413 once the sender has sent them, and the connection goes on', async () => {
  // Of its own, with the time that a body really has: so much takes a while on a busy machine.
  const patient = recordTraffic(buildApi({ service, baseUrl: 'http://127.0.0.1:4000', trustedProxies: [] }));
  after(() => patient.close());
  const at = Number(new URL(await listen(patient, '127.0.0.1', 0)).port);
  const next = message('GET /v1/me');
  const large = Buffer.alloc(10 * mebibyte + 1, ' ');
  for (const bytes of [
    posted(large),
    message(
      'POST /v1/vehicles',
      [json, chunked],
      Buffer.concat([Buffer.from(`${large.length.toString(16)}\r\n`), large, Buffer.from('\r\n0\r\n\r\n')]),
    ),
    posted(Buffer.alloc(32 * mebibyte + 1, ' '), '/v1/vehicles/batch'),
  ]) {
    const [refused, answered] = await sendRaw(at, Buffer.concat([bytes, next]), 2);
    assert.deepEqual([refused?.status, refused?.body.code, answered?.status], [413, 'body_too_large', 200]);
  }
  for (const bytes of [posted(Buffer.alloc(10 * mebibyte, ' ')), posted(Buffer.alloc(11 * mebibyte, ' '), '/v1/vehicles/batch')]) {
    const [blank] = await sendRaw(at, bytes);
    assert.deepEqual([blank?.status, Object.keys(blank?.body.errors)], [422, ['body']]);
  }
});

test('a refusal that comes before the body is read reaches a sender who is still sending', async () => {
  const unknown = Buffer.from(
    posted(Buffer.alloc(5 * mebibyte, ' '))
      .toString('latin1')
      .replace(key, 'Authorization: Bearer x'),
    'latin1',
  );
  await refuses(unknown, 401, 'invalid_api_key');
  await refuses(posted(Buffer.alloc(5 * mebibyte, ' '), '/v1/nothing'), 404, 'not_found');
});

test('whoever sends on and on after the refusal is cut off', async () => {
  const endless = message('POST /v1/vehicles', [json, 'Content-Length: 1000000000'], Buffer.alloc(80 * mebibyte, ' '));
  await assert.rejects(sendRaw(Number(port), endless, 2), /after [01] answers/);
  assert.equal((await send(message('GET /v1/me'))).status, 200);
});

test('X-Forwarded-For is believed from trusted proxies alone, and walked from the right', async () => {
  const trusting = recordTraffic(buildApi({ service, baseUrl: 'http://127.0.0.1:4000', trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] }));
  after(() => trusting.close());
  const trusted = Number(new URL(await listen(trusting, '127.0.0.1', 0)).port);
  const { newKey } = await dealership();
  const { key: limited } = await newKey({ ips: ['203.0.113.7', '2001:db8::/32'] });
  const from = async (at: number, ...forwarded: string[]) => {
    const headers = forwarded.map((value) => `X-Forwarded-For: ${value}\r\n`).join('');
    const [answer] = await sendRaw(at, Buffer.from(`GET /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${limited}\r\n${headers}\r\n`));
    assert.ok(answer!.status === 200 || answer!.body.code === 'ip_not_allowed', JSON.stringify(answer!.body));
    return answer!.status === 200;
  };
  const within = [
    ['203.0.113.7'],
    ['198.51.100.1, 203.0.113.7'],
    ['198.51.100.1, 203.0.113.7, 10.0.0.1'],
    ['203.0.113.7', '10.1.2.3'],
    ['203.0.113.7:51234'],
    ['[2001:db8::5]:443, 10.0.0.1'],
    ['2001:db8::5'],
    ['::ffff:203.0.113.7'],
  ];
  const out = [
    [],
    ['203.0.113.7, 198.51.100.1'],
    ['203.0.113.7, 198.51.100.1, 10.0.0.1'],
    ['203.0.113.7', '198.51.100.1'],
    ['unknown'],
    ['203.0.113.7, unknown'],
  ];
  for (const forwarded of within) assert.ok(await from(trusted, ...forwarded), forwarded.join(' | '));
  for (const forwarded of out) assert.ok(!(await from(trusted, ...forwarded)), forwarded.join(' | '));
  for (const forwarded of within) assert.ok(!(await from(Number(port), ...forwarded)), `not from elsewhere: ${forwarded.join(' | ')}`);
});
