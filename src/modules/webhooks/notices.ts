import { z } from 'zod';
import { whoManages } from '#modules/staff/index.ts';
import type { Context } from '#platform/context.ts';
import { openTransaction } from '#platform/db/transaction.ts';
import { enqueue, enqueueFor, job } from '#platform/jobs/job.ts';
import { sendMail } from '#platform/mail/job.ts';
import { uuidOf, uuidv7 } from '#platform/secrets.ts';
import { whoseEndpoint } from './notice-queries.ts';
import type { Facts, Notice } from './notice-texts.ts';
import { notices, noticeText } from './notice-texts.ts';

/** Tells whoever manages webhooks how an endpoint fares. */
export const tellManagers = job(
  'webhooks.notify',
  z.object({
    id: z.uuid(),
    endpoint: z.object({ id: z.uuid(), url: z.string(), description: z.string().nullable(), inSandbox: z.boolean() }),
    notice: z.enum(notices),
    facts: z.object({ failingSince: z.string(), lastError: z.string().nullable() }),
    at: z.string(),
  }),
  { id: ({ id }) => id },
);

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
}

/** Has a notice mailed to those who manage the endpoint, once what it says is committed. One that is gone is nobody's worry. */
export async function notify(tx: Context, { id, url, description }: Endpoint, notice: Notice, facts: Facts): Promise<void> {
  const dealerId = await whoseEndpoint(tx, id);
  if (dealerId === undefined) return;
  const endpoint = { id, url, description, inSandbox: tx.dealer.isSandbox };
  await enqueueFor(tx, dealerId, tellManagers, { id: uuidv7(tx.now), endpoint, notice, facts, at: tx.now });
}

/** Queues a mail to each of them, all or none. Run again, it queues the same mails, which are there already. */
export async function mailManagers(ctx: Context, told: z.output<typeof tellManagers.payload>): Promise<void> {
  const { id, endpoint, notice, facts, at } = told;
  const managers = await whoManages(ctx, 'WEBHOOKS_MANAGE');
  if (managers.length === 0) ctx.service.log.warn({ dealer: ctx.dealer.id, endpoint: endpoint.id, notice }, 'Nobody is there to be told.');
  const written = noticeText(notice, endpoint, facts, { baseUrl: ctx.service.baseUrl, timeZone: ctx.dealer.timeZone });

  await openTransaction(ctx, async (tx) => {
    for (const { id: recipientId, name, email } of managers) {
      const mail = { id: uuidOf(`${id} ${recipientId}`), recipientId, to: { name, address: email }, at, ...written };
      await enqueue(tx, sendMail, mail);
    }
  });
}
