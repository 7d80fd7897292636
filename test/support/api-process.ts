// An API in a process of its own, so that a test can kill it. Prints its address when it listens.
import { z } from 'zod';
import { operation, privateKeys } from '#platform/contract.ts';
import { inTransaction, takeNumbers } from '#platform/db/transaction.ts';
import { answer, answerAfter } from '#platform/http/answer.ts';
import { buildApi, listen } from '../../src/app/api.ts';
import { readConfig } from '../../src/app/config.ts';
import { openService } from '../../src/app/service.ts';
import { limits, masterKeys, silentLog } from './fixtures.ts';
import { recordTraffic } from './traffic.ts';

const declared = {
  method: 'POST',
  tag: 'Test',
  summary: 'Counts, slowly',
  access: { scopes: [], kinds: privateKeys },
  body: z.strictObject({ ms: z.int() }),
  success: { status: 201, data: z.object({ count: z.int() }) },
  refusals: [],
  silent: 'It exists in tests alone.',
} as const;

/** Counts up in the middle of a slow transaction. */
const slow = answer(operation({ ...declared, id: 'test.slow', path: '/v1/test/slow' }), (ctx, { body }) =>
  inTransaction(ctx, async (tx) => {
    const count = await takeNumbers(tx, 'test', 1);
    await tx.tx?.connection.query('select pg_sleep($1)', [body.ms / 1000]);
    return { count };
  }),
);

/** Calls out slowly first, then counts up. */
const slowOutside = answerAfter(
  operation({ ...declared, id: 'test.slow_outside', path: '/v1/test/slow-outside' }),
  (_ctx, { body }) => new Promise<string>((resolve) => setTimeout(() => resolve('fetched'), body.ms)),
  (ctx) => inTransaction(ctx, async (tx) => ({ count: await takeNumbers(tx, 'test', 1) })),
);

const { DATABASE_URL: databaseUrl = '', FILES, OAUTH_CALLS_PER_MINUTE } = process.env;
const { files, oauthCallsPerMinute } = readConfig({ FILES, OAUTH_CALLS_PER_MINUTE });
const service = await openService({ log: silentLog, databaseUrl, masterKeys, limits, files, connections: 8 });
const app = recordTraffic(
  buildApi({ service, baseUrl: 'http://127.0.0.1:4000', trustedProxies: [], oauthCallsPerMinute, more: [slow, slowOutside] }),
);
console.log(await listen(app, '127.0.0.1', 0));
