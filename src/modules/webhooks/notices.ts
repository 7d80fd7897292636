import type { Context } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';

type Notice = 'failing' | 'failing_24_hours' | 'failing_48_hours' | 'disabled' | 'recovered';

/** Stands in until mails are there. */
export async function notify(
  _tx: Context,
  _endpoint: { readonly id: string; readonly url: string; readonly description: string | null },
  _notice: Notice,
  _facts: { readonly failingSince: Instant; readonly lastError: string | null },
): Promise<void> {}
