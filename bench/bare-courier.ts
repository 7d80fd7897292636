import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

/** What the bare loop sends: the same to each of these. */
export interface BareMail {
  readonly endpoints: readonly { readonly url: string; readonly secret: string }[];
  /** A file with a delivery's body in each line. */
  readonly bodies: string;
  readonly perEndpoint: number;
}

// The loop to compare with: undici, both signatures, the same bytes to the same receivers over as many connections. It reads nothing from a
// database and writes nothing into one, looks up no name, judges no address, and stops at no time.
process.once('message', async (asked: BareMail) => {
  const bodies = readFileSync(asked.bodies, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((body) => ({ body, ...JSON.parse(body) }));
  const pools = asked.endpoints.map(
    ({ url }) => new Pool(new URL(url).origin, { connections: asked.perEndpoint, pipelining: 1, allowH2: false }),
  );
  await Promise.all(
    asked.endpoints.flatMap(({ url, secret }, i) => {
      const path = new URL(url).pathname;
      const standard = Buffer.from(secret.slice('whsec_'.length), 'base64');
      let next = 0;
      return Array.from({ length: asked.perEndpoint }, async () => {
        for (let mail = bodies[next++]; mail; mail = bodies[next++]) {
          const { body, id, type, sequence } = mail;
          const t = Math.floor(Date.now() / 1000);
          const answer = await pools[i]!.request({
            method: 'POST',
            path,
            headers: {
              'content-type': 'application/json',
              'user-agent': 'Forecourt',
              'service-event-id': id,
              'service-event-type': type,
              'service-event-sequence': `${sequence}`,
              'service-signature': `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`,
              'webhook-id': id,
              'webhook-timestamp': `${t}`,
              'webhook-signature': `v1,${createHmac('sha256', standard).update(`${id}.${t}.${body}`).digest('base64')}`,
            },
            body,
          });
          await answer.body.dump();
        }
      });
    }),
  );
  await Promise.all(pools.map((pool) => pool.destroy()));
  process.send?.({ type: 'done' });
});
process.once('SIGTERM', () => process.exit());
process.send?.({ type: 'ready' });
await once(process, 'disconnect');
