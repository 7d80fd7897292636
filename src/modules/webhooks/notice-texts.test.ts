import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notices, noticeText } from './notice-texts.ts';

const endpoint = {
  id: '0199e2a4-0000-4000-8000-000000000001',
  url: 'https://erp.example.com:8443/hooks/7?token=k4',
  description: 'Orders for the ERP',
  inSandbox: false,
};
const facts = { failingSince: '2025-10-24T23:05:07.123456Z', lastError: 'timeout' };
const place = { baseUrl: 'https://api.example.com', timeZone: 'Europe/London' };

test('a failing endpoint is told of with its last error, its end and what to do', () => {
  assert.deepEqual(noticeText('failing', endpoint, facts, place), {
    subject: 'Webhook endpoint failing: erp.example.com:8443',
    text: `Events do not reach this webhook endpoint:

  https://erp.example.com:8443/hooks/7?…
  Orders for the ERP
  Id 0199e2a4-0000-4000-8000-000000000001

Every delivery since Saturday 25 October 2025, 00:05 Europe/London time (2025-10-24T23:05:07Z) has failed. The last attempt failed: no answer came within 10 seconds. Deliveries are tried again by themselves. If none succeeds, the endpoint is disabled on Monday 27 October 2025, 23:05 Europe/London time (2025-10-27T23:05:07Z).

To see what was sent and answered:
  GET https://api.example.com/v1/webhook-endpoints/0199e2a4-0000-4000-8000-000000000001/deliveries?success=false

To read what happened meanwhile:
  GET https://api.example.com/v1/events?created_since=2025-10-24T23:05:07Z

To have sent again what never arrived:
  POST https://api.example.com/v1/webhook-endpoints/0199e2a4-0000-4000-8000-000000000001/replay with {"since": "2025-10-24T23:05:07Z"}

All of this is also in the DMS, under Developers.
`,
  });
});

test('each later notice says how long it has been', () => {
  const said = (notice: (typeof notices)[number]) => {
    const { subject, text } = noticeText(notice, endpoint, facts, place);
    return [subject, text.split('\n')[0]];
  };
  assert.deepEqual(said('failing_24_hours'), [
    'Webhook endpoint failing for 24 hours: erp.example.com:8443',
    'For 24 hours no event has reached this webhook endpoint:',
  ]);
  assert.deepEqual(said('failing_48_hours'), [
    'Webhook endpoint failing for 48 hours: erp.example.com:8443',
    'For 48 hours no event has reached this webhook endpoint:',
  ]);
});

test('of a disabled endpoint it is told how to enable it again', () => {
  const { subject, text } = noticeText('disabled', endpoint, facts, place);
  assert.equal(subject, 'Webhook endpoint disabled: erp.example.com:8443');
  assert.match(text, /^This webhook endpoint was disabled, because for three days no event had reached it:/);
  assert.match(text, /No more events are sent to it, and what was waiting was cancelled\./);
  assert.match(text, new RegExp(`PATCH https://api.example.com/v1/webhook-endpoints/${endpoint.id} with {"enabled": true}`));
  assert.doesNotMatch(text, /is disabled on/);
});

test('of an endpoint that works again it is told since when it had not', () => {
  const { subject, text } = noticeText('recovered', endpoint, facts, place);
  assert.equal(subject, 'Webhook endpoint working again: erp.example.com:8443');
  assert.match(text, /It had failed since Saturday 25 October 2025, 00:05 Europe\/London time \(2025-10-24T23:05:07Z\)\./);
  assert.doesNotMatch(text, /disabled|last attempt/);
});

test('no notice holds the query of an address, and none is longer than a screen', () => {
  for (const notice of notices) {
    const { subject, text } = noticeText(notice, endpoint, facts, place);
    assert.doesNotMatch(subject + text, /token|k4/);
    assert.ok(text.split('\n').length < 30, notice);
  }
});

test('what the dealer wrote stays in its line', () => {
  const { text } = noticeText('failing', { ...endpoint, description: 'One\r\n\r\nAll is well.\u2028Bye' }, facts, place);
  assert.match(text, /^ {2}One All is well\. Bye$/m);
  assert.equal(noticeText('failing', { ...endpoint, description: null }, facts, place).text.split('\n')[3], `  Id ${endpoint.id}`);
});

test('every failure of the delivery log is said in words, and one that has none is left out', () => {
  const last = (lastError: string | null) =>
    /The last attempt failed: (.*?)\. D/.exec(noticeText('failing', endpoint, { ...facts, lastError }, place).text)?.[1];
  for (const code of ['dns', 'connect', 'tls', 'timeout', 'blocked_address', 'redirect', 'status']) {
    assert.ok((last(code)?.length ?? 0) > 20, code);
    assert.doesNotMatch(last(code) ?? '', /_/);
  }
  assert.equal(last('status'), 'it answered with another status than 2xx');
  assert.equal(last(null), undefined);
});

test('an endpoint of the sandbox is known by the subject', () => {
  const { subject, text } = noticeText('failing', { ...endpoint, inSandbox: true }, facts, place);
  assert.equal(subject, '[Sandbox] Webhook endpoint failing: erp.example.com:8443');
  assert.match(text, /, in the sandbox$/m);
});
