import type { Context } from '#platform/context.ts';
import { invalid, Refusal } from '#platform/errors.ts';
import { CallFault } from '#platform/net/fault.ts';
import { within } from '#platform/net/fetch.ts';
import { vettedAddress } from '#platform/net/public-address.ts';

const patienceMs = 5_000;

/** Whether events may be delivered to an address, as names stand now. A courtesy: every delivery looks anew. */
export async function checkAddress({ service, tx }: Context, url: string): Promise<void> {
  if (tx) throw new Error('Nothing waits on the network inside a transaction.');
  const looked = vettedAddress(new URL(url).hostname, true, service.webhooksTo);
  await within(patienceMs, looked).catch((error: unknown) => {
    if (!(error instanceof CallFault)) throw error;
    // Names that take their time say nothing of the address: an answer that is kept for a repeat would.
    if (error.code === 'timeout')
      throw new Refusal('service_unavailable', 'The host’s name could not be looked up in time. Retry shortly.', { retryAfterSeconds: 5 });
    throw invalid('url', error.message);
  });
}
