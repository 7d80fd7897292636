import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { setUser } from '#modules/staff/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { work } from '#platform/jobs/work.ts';
import { mailJobs } from '#platform/mail/job.ts';
import { dealership, house } from '../../../test/support/dealership.ts';
import { endpointToTellOf } from '../../../test/support/endpoint-to-tell-of.ts';
import { mailsIn } from '../../../test/support/outbox.ts';
import { sandbox } from '../../../test/support/sandbox.ts';
import { until } from '../../../test/support/until.ts';
import { contextOf } from '../../app/worker.ts';
import { webhookJobs } from './jobs.ts';
import { mailManagers, notify } from './notices.ts';

/** Has the work done that is waiting, and what comes, until the test ends. */
async function atWork(t: TestContext): Promise<void> {
  const { databaseUrl, service } = await house();
  const { close } = await work({ databaseUrl, service, handlers: [...webhookJobs, ...mailJobs], schedules: [], contextOf });
  t.after(close);
}

const facts = { failingSince: '2025-10-14T08:05:00.000000Z', lastError: 'dns' };
type Endpoint = Awaited<ReturnType<typeof endpointToTellOf>>;

const tell = (ctx: Context, endpoint: Endpoint) => inTransaction(ctx, (tx) => notify(tx, endpoint, 'failing', facts));

/** The mails about an endpoint, once there are as many and nothing more is to be done. */
async function mailsAbout({ id }: Endpoint, count: number) {
  const { outbox, service } = await house();
  const found = async () => (await mailsIn(outbox)).filter(({ text }) => text?.includes(id));
  await until(async () => (await found()).length >= count);
  await until(async () => {
    const { rows } = await service.pools.doors.query("select 1 from queue.job where state < 'completed' and name = any($1)", [
      ['webhooks.notify', 'mail.send'],
    ]);
    return rows.length === 0;
  });
  return found();
}

const addresses = (mails: Awaited<ReturnType<typeof mailsAbout>>) => mails.map(({ to }) => to?.[0]?.address).sort();

test('whoever manages webhooks is told by a mail of their own', async (t) => {
  await atWork(t);
  const { ctx, service, id, owner, newUser } = await dealership({ timeZone: 'America/New_York' });
  const [second, seller] = [await newUser(), await newUser({ role: 'SALES_MANAGER' })];
  await setUser(ctx, seller.email, { with: ['WEBHOOKS_MANAGE'] });
  await newUser({ role: 'SALES_EXECUTIVE' });
  await newUser({ without: ['WEBHOOKS_MANAGE'] });
  const endpoint = await endpointToTellOf(service, id);
  await tell(ctx, endpoint);
  const mails = await mailsAbout(endpoint, 3);
  assert.deepEqual(addresses(mails), [owner.email, second.email, seller.email].sort());
  for (const { subject, text, to, from } of mails) {
    assert.equal(subject, 'Webhook endpoint failing: erp.example.com');
    assert.match(text ?? '', /Tuesday 14 October 2025, 04:05 America\/New_York time \(2025-10-14T08:05:00Z\)/);
    assert.match(text ?? '', /the name of its host was not found/);
    assert.deepEqual([to?.length, to?.[0]?.name, from?.name], [1, 'A Member', 'Forecourt']);
  }
});

test('where nobody may manage webhooks, the administrators are told', async (t) => {
  await atWork(t);
  const { ctx, service, id, owner, newUser } = await dealership();
  await newUser({ role: 'SALES_MANAGER' });
  await setUser(ctx, owner.email, { without: ['WEBHOOKS_MANAGE'] });
  const endpoint = await endpointToTellOf(service, id);
  await tell(ctx, endpoint);
  assert.deepEqual(addresses(await mailsAbout(endpoint, 1)), [owner.email]);
});

test('whoever is banned or deleted is told nothing', async (t) => {
  await atWork(t);
  const { ctx, service, id, owner, newUser } = await dealership();
  const [banned, deleted] = [await newUser(), await newUser()];
  await setUser(ctx, banned.email, { status: 'banned' });
  await setUser(ctx, deleted.email, { status: 'deleted' });
  const endpoint = await endpointToTellOf(service, id);
  await tell(ctx, endpoint);
  assert.deepEqual(addresses(await mailsAbout(endpoint, 1)), [owner.email]);
});

test('of an endpoint in the sandbox the dealership whose key made it is told, by its own clock', async (t) => {
  await atWork(t);
  const { id, owner, service } = await dealership({ timeZone: 'Asia/Tokyo' });
  const { id: sandboxId, ctx } = await sandbox();
  const endpoint = await endpointToTellOf(service, sandboxId, id);
  await tell(ctx, endpoint);
  const [mail, ...others] = await mailsAbout(endpoint, 1);
  assert.equal(others.length, 0);
  assert.equal(mail?.to?.[0]?.address, owner.email);
  assert.equal(mail?.subject, '[Sandbox] Webhook endpoint failing: erp.example.com');
  assert.match(mail?.text ?? '', /17:05 Asia\/Tokyo time/);
});

test('what is undone is not told, nor what is about an endpoint that is gone', async (t) => {
  await atWork(t);
  const { ctx, service, id } = await dealership();
  const [undone, told] = [await endpointToTellOf(service, id), await endpointToTellOf(service, id)];
  await assert.rejects(
    inTransaction(ctx, async (tx) => {
      await notify(tx, undone, 'failing', facts);
      throw new Error('Undone.');
    }),
    /Undone/,
  );
  await tell(ctx, { ...undone, id: '00000000-0000-4000-8000-000000000000' });
  await tell(ctx, told);
  await mailsAbout(told, 1);
  assert.deepEqual(await mailsAbout(undone, 0), []);
  assert.deepEqual(await mailsAbout({ ...undone, id: '00000000-0000-4000-8000-000000000000' }, 0), []);
});

test('a job that is done twice queues each mail once', async (t) => {
  const { ctx, service, id, newUser } = await dealership();
  await newUser();
  const endpoint = { ...(await endpointToTellOf(service, id)), inSandbox: false };
  const told = { id: randomUUID(), endpoint, notice: 'failing', facts, at: ctx.now } as const;
  await mailManagers(ctx, told);
  await mailManagers(ctx, told);
  const queued = async () => {
    const { rows } = await service.pools.doors.query(
      "select state from queue.job where name = 'mail.send' and data #>> '{dealer,id}' = $1",
      [id],
    );
    return rows.map(({ state }) => state);
  };
  assert.deepEqual(await queued(), ['created', 'created']);
  await atWork(t);
  await mailsAbout(endpoint, 2);
  await mailManagers(ctx, told);
  assert.deepEqual(await queued(), ['completed', 'completed'], 'nor when they are sent');
});
