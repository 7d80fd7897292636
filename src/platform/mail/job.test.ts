import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { createLog } from '#platform/log.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { mailServer } from '../../../test/support/mail-server.ts';
import { post } from './job.ts';
import { serverPostbox } from './smtp.ts';

/** A dealership whose mail goes to a server, and what is logged of that. */
async function atServer(t: TestContext) {
  const server = await mailServer(t);
  const { ctx } = await dealership();
  const lines: string[] = [];
  const log = createLog({ level: 'trace', pretty: false, to: { write: (line) => lines.push(line) } });
  const mail = serverPostbox(server.place);
  t.after(mail.close);
  const letter = {
    ...{ id: randomUUID(), recipientId: randomUUID(), to: { name: 'Zoë Member', address: 'member@dealer.example' } },
    ...{ subject: 'A notice', text: 'Some text.\n', at: ctx.now },
  };
  return { server, ctx: { ...ctx, service: { ...ctx.service, mail, log } }, letter, lines };
}

test('a mail that is refused for good ends, and the log says which and for whom by their ids alone', async (t) => {
  const { server, ctx, letter, lines } = await atServer(t);
  server.refuse('RCPT TO', '550 5.1.1 member@dealer.example, Zoë Member, is unknown');
  await post(ctx, letter);
  const [line, ...others] = lines;
  assert.equal(others.length, 0);
  const { mail, recipient, err } = JSON.parse(line!);
  assert.deepEqual([mail, recipient, err.message], [letter.id, letter.recipientId, 'The mail server answered 550 5.1.1 to RCPT TO.']);
  assert.doesNotMatch(line!, /member@|Zoë|dealer\.example/);
});

test('a mail that is not taken now is left to the queue for five days, and then given up', async (t) => {
  const { server, ctx, letter, lines } = await atServer(t);
  const after = (days: number) => ({ ...ctx, now: new Date(Date.parse(ctx.now) + days * 86_400_000).toISOString() });
  for (const days of [0, 4.9]) {
    server.refuse('RCPT TO', '451 4.7.1 Later');
    await assert.rejects(post(after(days), letter), { name: 'MailFault' });
  }
  assert.deepEqual(lines, []);
  server.refuse('RCPT TO', '451 4.7.1 Later');
  await post(after(5.1), letter);
  assert.equal(lines.length, 1);
  await post(after(5.1), letter);
  assert.equal(server.received.length, 1, 'however late it is asked for');
});
