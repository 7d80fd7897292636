import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { notify } from '#modules/webhooks/index.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { authority } from '../support/certificates.ts';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import { endpointToTellOf } from '../support/endpoint-to-tell-of.ts';
import { mailServer } from '../support/mail-server.ts';
import { mailsIn } from '../support/outbox.ts';
import { script, start } from '../support/processes.ts';
import { until } from '../support/until.ts';

const startWorker = (t: TestContext, { databaseUrl, files }: Dealership, env: Record<string, string>) =>
  start(t, script('worker-process.ts'), {
    DATABASE_URL: databaseUrl,
    FILES: files.folder,
    MAIL_FROM: 'Smith & Sons <dms@smith.example>',
    ...env,
  });

/** Has a notice told, which becomes a mail to each administrator. */
async function tell({ ctx, service, id }: Dealership): Promise<void> {
  const endpoint = await endpointToTellOf(service, id);
  await inTransaction(ctx, (tx) => notify(tx, endpoint, 'failing', { failingSince: ctx.now, lastError: null }));
}

/** What became of the mails of a dealership: the states of their jobs, and how often each was tried again. */
async function mailJobs({ service, id }: Dealership): Promise<{ state: string; retries: number }[]> {
  const { rows } = await service.pools.doors.query(
    "select state, retry_count as retries from queue.job where name = 'mail.send' and data #>> '{dealer,id}' = $1",
    [id],
  );
  return rows;
}

const allDone = async (dealer: Dealership, count: number) =>
  until(async () => {
    const jobs = await mailJobs(dealer);
    return jobs.length === count && jobs.every(({ state }) => state === 'completed');
  });

async function ownFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forecourt-mail-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('each recipient gets a mail of the sender that is set, through the mail server’s TLS', async (t) => {
  const dealer = await dealership();
  const second = await dealer.newUser();
  const ca = authority();
  const server = await mailServer(t, { tls: ca.vouchFor('localhost') });
  const trusted = join(await ownFolder(t), 'ca.pem');
  await writeFile(trusted, ca.certificate);
  await tell(dealer);
  await startWorker(t, dealer, { SMTP_URL: server.url, NODE_EXTRA_CA_CERTS: trusted });
  await allDone(dealer, 2);
  assert.deepEqual(server.received.map(({ recipients }) => recipients).sort(), [[dealer.owner.email], [second.email]].sort());
  for (const { secure, from, messageId, subject } of server.received) {
    assert.deepEqual([secure, from], [true, { name: 'Smith & Sons', address: 'dms@smith.example' }]);
    assert.match(messageId ?? '', /^<[0-9a-f-]{36}@smith\.example>$/);
    assert.equal(subject, 'Webhook endpoint failing: erp.example.com');
  }
  assert.equal(new Set(server.received.map(({ messageId }) => messageId)).size, 2);
});

test('without a mail server mails lie in the outbox of the data folder', async (t) => {
  const dealer = await dealership();
  const folder = await ownFolder(t);
  await tell(dealer);
  await startWorker(t, dealer, { DATA_DIR: folder });
  await allDone(dealer, 1);
  const [mail, ...others] = await mailsIn(join(folder, 'outbox'));
  assert.equal(others.length, 0);
  assert.deepEqual(mail?.to, [{ name: 'A Member', address: dealer.owner.email }]);
  assert.deepEqual(mail?.from, { name: 'Smith & Sons', address: 'dms@smith.example' });
});

test('a mail that the server does not take now arrives later, and one it refuses for good is tried no more', async (t) => {
  const [late, refused] = [await dealership(), await dealership()];
  const server = await mailServer(t);
  server.refuse('RCPT TO', '451 4.7.1 Greylisted');
  await tell(late);
  await startWorker(t, late, { SMTP_URL: server.url });
  await allDone(late, 1);
  assert.deepEqual(
    server.received.map(({ recipients }) => recipients),
    [[late.owner.email]],
  );
  assert.deepEqual(await mailJobs(late), [{ state: 'completed', retries: 1 }]);

  server.refuse('RCPT TO', '550 5.1.1 Unknown');
  await tell(refused);
  await allDone(refused, 1);
  assert.equal(server.received.length, 1);
  assert.deepEqual(await mailJobs(refused), [{ state: 'completed', retries: 0 }]);
});

test('a worker killed before it heard that its mail was taken sends it once more, under the same Message-ID', async (t) => {
  const dealer = await dealership();
  const server = await mailServer(t);
  await tell(dealer);
  const worker = await startWorker(t, dealer, { SMTP_URL: server.url });
  server.whenTaken(worker.kill);
  await until(async () => worker.child.signalCode !== null);
  assert.equal(server.received.length, 1);
  server.whenTaken(async () => undefined);
  // What a missed heartbeat does in half a minute, done at once: the job of the dead worker is due again.
  await dealer.service.pools.doors.query("update queue.job set state = 'retry' where name = 'mail.send' and state = 'active'");
  await startWorker(t, dealer, { SMTP_URL: server.url });
  await allDone(dealer, 1);
  const [first, second, ...others] = server.received;
  assert.equal(others.length, 0);
  assert.match(first?.messageId ?? '', /^<.{36}@smith\.example>$/);
  assert.equal(second?.messageId, first?.messageId);
  assert.deepEqual(second?.source, first?.source);
});
