import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { authority } from '../../../test/support/certificates.ts';
import { mailServer } from '../../../test/support/mail-server.ts';
import type { Mail, MailServer } from './postbox.ts';
import { MailFault } from './postbox.ts';
import { serverPostbox } from './smtp.ts';

const mail: Mail = {
  id: '0199e2a4-0000-7000-8000-000000000001',
  to: { name: 'Zoë Member', address: 'member@dealer.example' },
  subject: 'A notice – übrigens',
  text: 'One line.\n.\nAnother.\n',
  at: '2025-10-14T08:05:00.123456Z',
};

function postbox(t: TestContext, place: MailServer, wholeTimeMs?: number) {
  const { send, close } = serverPostbox(place, wholeTimeMs);
  t.after(close);
  return send;
}

test('a mail server gets the mail from whoever signs in, for the recipient alone', async (t) => {
  const server = await mailServer(t);
  await postbox(t, server.place)(mail);
  const [got, ...others] = server.received;
  assert.equal(others.length, 0);
  assert.deepEqual(server.signIns, [server.place.auth.user]);
  assert.deepEqual(got?.recipients, ['member@dealer.example']);
  assert.deepEqual(got?.to, [{ name: 'Zoë Member', address: 'member@dealer.example' }]);
  assert.deepEqual(got?.from, server.place.from);
  assert.equal(got?.subject, mail.subject);
  assert.equal(got?.text, mail.text);
  assert.equal(got?.messageId, `<${mail.id}@dms.example>`);
});

test('many mails share few connections and all arrive', async (t) => {
  const server = await mailServer(t);
  const send = postbox(t, server.place);
  await Promise.all(Array.from({ length: 20 }, (_, n) => send({ ...mail, subject: `Notice ${n}` })));
  assert.equal(new Set(server.received.map(({ subject }) => subject)).size, 20);
  assert.ok(server.signIns.length <= 2);
});

for (const [step, answer, isFinal] of [
  ['RCPT TO', '550 5.1.1 <member@dealer.example> is unknown', true],
  ['RCPT TO', '553 Member@dealer.example may not be written to', true],
  ['DATA', '554 5.6.0 member@dealer.example does not want this', true],
  ['RCPT TO', '451 4.7.1 member@dealer.example is greylisted', false],
  ['RCPT TO', '530 5.7.0 Sign in first, forecourt@mail.example', false],
  ['DATA', '452 4.2.2 member@dealer.example is full', false],
  ['MAIL FROM', '550 5.7.1 forecourt@dms.example may not send', false],
  ['AUTH', '535 5.7.8 forecourt@mail.example is not known', false],
] as const) {
  test(`“${answer}” to ${step} is ${isFinal ? 'the end of the mail' : 'worth another try'}, and the fault names nobody`, async (t) => {
    const server = await mailServer(t);
    const send = postbox(t, server.place);
    server.refuse(step, answer);
    await assert.rejects(send(mail), (fault) => {
      assert.ok(fault instanceof MailFault);
      assert.equal(fault.isFinal, isFinal);
      assert.match(fault.message, new RegExp(`answered ${answer.slice(0, 3)}`));
      assert.doesNotMatch(`${fault.stack} ${JSON.stringify(fault)}`, /member@|forecourt@|correct/i);
      return true;
    });
    await send(mail);
    assert.equal(server.received.length, 1);
  });
}

test('a mail server that is not there is worth another try', async (t) => {
  const nobody = createServer().listen(0, '127.0.0.1');
  await once(nobody, 'listening');
  const { port } = nobody.address() as AddressInfo;
  nobody.close();
  await once(nobody, 'close');
  const { place } = await mailServer(t);
  await assert.rejects(postbox(t, { ...place, port })(mail), { name: 'MailFault', isFinal: false, message: /ECONNREFUSED/ });
});

test('a mail server that speaks on without end is not waited for', async (t) => {
  const chatter = createServer((socket) => {
    socket.on('error', () => undefined);
    const timer = setInterval(() => socket.write('220-Welcome\r\n'), 20);
    socket.on('close', () => clearInterval(timer));
  }).listen(0, '127.0.0.1');
  await once(chatter, 'listening');
  t.after(() => void chatter.close());
  const { place } = await mailServer(t);
  const { port } = chatter.address() as AddressInfo;
  await assert.rejects(postbox(t, { ...place, port }, 300)(mail), { name: 'MailFault', isFinal: false, message: /abort/i });
});

test('a password does not leave this machine without TLS', async (t) => {
  const server = await mailServer(t);
  // An address of this machine that does not look like one.
  const host = '0.0.0.0';
  await assert.rejects(postbox(t, { ...server.place, host })(mail), { name: 'MailFault', isFinal: false });
  assert.deepEqual(server.signIns, []);
});

test('a mail server whose certificate nobody vouches for gets neither password nor mail', async (t) => {
  const server = await mailServer(t, { tls: authority().vouchFor('localhost') });
  await assert.rejects(postbox(t, server.place)(mail), { name: 'MailFault', isFinal: false, message: /certificate/ });
  assert.deepEqual([server.signIns, server.received], [[], []]);
});
