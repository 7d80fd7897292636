import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, redact } from './log.ts';

const body = '0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2y';
const secrets = {
  'secret key': `svc_live_sk_aaaaaaaaaaaa_${body}`,
  'secret test key': `svc_test_sk_aaaaaaaaaaaa_${body}`,
  'publishable key': `svc_live_pk_aaaaaaaaaaaa_${body}`,
  'access token': `svc_oat_${body}`,
  'refresh token': `svc_ort_${body}`,
  'authorisation code': `svc_oac_${body}`,
  'signing secret': `whsec_${Buffer.from(body).toString('base64')}`,
};

for (const [what, secret] of Object.entries(secrets)) {
  for (const pretty of [false, true]) {
    test(`a ${what} gets out of no part of a ${pretty ? 'readable' : 'JSON'} line`, () => {
      const { log, lines } = collected(pretty);
      log.info({ deep: [{ value: secret }], [secret]: 1 }, `came with ${secret}.`);
      log.error(new Error(`refused ${secret}`));
      log.info({ url: `/v1/vehicles?key=${secret}&limit=1`, quoted: JSON.stringify({ secret }) }, 'asked');
      assert.equal(lines.length, 3);
      assert.ok(!lines.join('').includes(secret.slice(secret.lastIndexOf('_') + 1)));
    });
  }
}

test('an authorization header gets out in no form', () => {
  const value = 'Digest username=\\"x\\", response=\\"hunter2\\"';
  for (const line of [
    '{"headers":{"authorization":"hunter2"},"next":1}',
    `{"headers":{"Authorization":"${value}"},"next":1}`,
    '{"rawHeaders":["Host","x","Authorization","hunter2"]}',
    '{"headers":{"authorization":["hunter2"]}}',
    `{"body":${JSON.stringify(JSON.stringify({ authorization: 'hunter2' }))}}`,
    '{"msg":"authorization: hunter2"}',
    '{"msg":"sent Bearer hunter2 and Basic hunter2"}',
    '{"proxy-authorization":"hunter2"}',
  ]) {
    assert.ok(!redact(line).includes('hunter2'), line);
    JSON.parse(redact(line));
  }
});

test('the password of an address gets out no more than a key', () => {
  assert.equal(redact('postgres://forecourt:hunter2@127.0.0.1:5432/x'), 'postgres://forecourt:[redacted]@127.0.0.1:5432/x');
});

test('what only resembles a secret stays', () => {
  const line = '{"authorization":null,"grant":"authorization_code","path":"/v1/vehicles","url":"https://example.test:443/a"}';
  assert.equal(redact(line), line);
});

test('a line is JSON outside a terminal and short in one', () => {
  const json = collected(false);
  json.log.info({ port: 4000 }, 'listening');
  const { level, msg, port, time } = JSON.parse(json.lines[0]!);
  assert.deepEqual([level, msg, port], [30, 'listening', 4000]);
  assert.match(time, /^\d{4}-\d\d-\d\dT.*Z$/);

  const readable = collected(true);
  readable.log.warn({ port: 4000, of: { a: 1 } }, 'listening');
  assert.match(readable.lines[0]!, /^\d\d:\d\d:\d\d\.\d{3} warn {2}\d+ listening port=4000 of=\{"a":1\}\n$/);
});

test('a line below the level is not written', () => {
  const { log, lines } = collected(false);
  log.debug('nothing');
  assert.deepEqual(lines, []);
});

function collected(pretty: boolean) {
  const lines: string[] = [];
  return { lines, log: createLog({ level: 'info', pretty, to: { write: (line) => lines.push(line) } }) };
}
