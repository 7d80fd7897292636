import { z } from 'zod';
import type { Context } from '../context.ts';
import type { Instant } from '../dates.ts';
import { toMillis } from '../dates.ts';
import type { Handler } from '../jobs/job.ts';
import { job, runs } from '../jobs/job.ts';
import { MailFault } from './postbox.ts';

const letter = z.object({
  id: z.uuid(),
  /** Who it is for, as the log may say it. */
  recipientId: z.uuid(),
  to: z.object({ name: z.string(), address: z.email() }),
  subject: z.string(),
  text: z.string(),
  at: z.string(),
});

/** One mail to one person. Queued again with the same id it is still one. */
export const sendMail = job('mail.send', letter, { atOnce: 2, id: ({ id }) => id });

export const mailJobs: readonly Handler[] = [runs(sendMail, post)];

/** Posts a mail. One refused for good ends here; whatever else went wrong is tried again by the queue. */
export async function post({ service, now }: Context, { recipientId, ...mail }: z.output<typeof letter>): Promise<void> {
  try {
    await service.mail.send(mail);
  } catch (error) {
    const isFinal = error instanceof MailFault && error.isFinal;
    if (!isFinal && !isTooLate(mail.at, now)) throw error;
    service.log.warn({ mail: mail.id, recipient: recipientId, err: error }, 'A mail was given up.');
  }
}

/** Mail servers try for four to five days too (RFC 5321, 4.5.4.1). */
const isTooLate = (at: Instant, now: Instant): boolean => toMillis(now) - toMillis(at) > 5 * 86_400_000;
