import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context } from '../context.ts';
import { prepared } from '../db/connect.ts';
import type { Busy } from '../db/line.ts';
import type { OpenTransaction } from '../db/open-transaction.ts';
import { openTransaction, undoneIfThrown } from '../db/transaction.ts';
import type { Code } from '../errors.ts';
import { invalid, Refusal } from '../errors.ts';
import { sha256 } from '../secrets.ts';
import type { Answer } from './failures.ts';

/** A request that may be repeated: its key and what it asked for. */
export interface Repeatable {
  readonly key: string;
  readonly fingerprint: Buffer;
}

/** How an operation answers. `outside` calls other services and runs with no transaction open. */
export interface Work<F> {
  readonly outside?: (ctx: Context) => Promise<F>;
  readonly inside: (ctx: Context, fetched: F | undefined) => Promise<Answer>;
  /** What is answered when the dealership is being written to for too long. */
  readonly busy: Busy;
  /** The answer that stands for a refusal. */
  readonly refused: (refusal: Refusal) => Answer;
}

export interface Outcome extends Answer {
  readonly replayed: boolean;
  /** After which a refusal that is answered as a success may be another. */
  readonly retryAfterSeconds?: number | undefined;
}

/** Reads the Idempotency-Key of a POST; the header is ignored on other methods. `identifying`: what of the body makes it the same. */
export function repeatable(request: IncomingMessage, identifying: () => unknown): Repeatable | null {
  if (request.method !== 'POST') return null;
  const sent = request.rawHeaders.filter((_, i) => i % 2 === 0 && request.rawHeaders[i]!.toLowerCase() === 'idempotency-key').length;
  if (sent === 0) return null;
  const key = request.headers['idempotency-key'];
  if (sent > 1 || typeof key !== 'string') throw invalid('Idempotency-Key', 'Sent more than once.');
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw invalid('Idempotency-Key', '1 to 255 printable ASCII characters.');
  return { key, fingerprint: sha256(`${request.method} ${request.url}\n${canonical(identifying())}`) };
}

/**
 * Does the work at most once per key. Lock, work and stored answer are one transaction: a crash leaves nothing behind,
 * a refusal is undone to a savepoint and is itself the stored answer, and a fault rolls everything back, so a 5xx is never stored.
 */
export async function once<F>(ctx: Context, repeat: Repeatable | null, work: Work<F>): Promise<Outcome> {
  if (!repeat) return { ...(await work.inside(ctx, await work.outside?.(ctx))), replayed: false };
  return work.outside ? inTwoSteps(ctx, repeat, { ...work, outside: work.outside }) : inOneStep(ctx, repeat, work);
}

const keptHours = 24;
const leaseSeconds = 30;

type Tx = Context & { tx: OpenTransaction };

const inOneStep = <F>(ctx: Context, repeat: Repeatable, work: Work<F>): Promise<Outcome> =>
  openTransaction(
    ctx,
    async (tx) => {
      const earlier = await lookBack(tx, repeat);
      if (earlier !== null) return { ...earlier, replayed: true };
      const answer = await answerOrRefusal(tx, work, undefined);
      await store(tx, repeat, answer);
      return { ...answer, replayed: false };
    },
    work.busy,
  );

/** Claims the key, calls out with no transaction open, then works and stores in one transaction. A claim whose process died ends with its lease. */
async function inTwoSteps<F>(ctx: Context, repeat: Repeatable, work: Work<F> & Required<Pick<Work<F>, 'outside'>>): Promise<Outcome> {
  const owner = randomUUID();
  const earlier = await openTransaction(
    ctx,
    async (tx) => {
      const found = await lookBack(tx, repeat);
      if (found === null) await claim(tx, repeat, owner);
      return found;
    },
    work.busy,
  );
  if (earlier !== null) return { ...earlier, replayed: true };
  try {
    const fetched = await work.outside(ctx).catch((error: unknown) => {
      if (error instanceof Refusal) return error;
      throw error;
    });
    return await openTransaction(
      ctx,
      async (tx) => {
        await holdClaim(tx, repeat, owner);
        const answer = fetched instanceof Refusal ? refusalOf(fetched, work) : await answerOrRefusal(tx, work, fetched);
        await store(tx, repeat, answer);
        return { ...answer, replayed: false };
      },
      work.busy,
    );
  } catch (error) {
    await openTransaction(ctx, (tx) => release(tx, repeat, owner)).catch(() => undefined); // Else its lease ends it.
    throw error;
  }
}

/** Refusals that say "not now" rather than "no": the same key may try again. */
const neverStored: readonly Code[] = ['stock_busy', 'service_unavailable', 'rate_limited', 'idempotency_key_in_use'];

async function answerOrRefusal<F>(tx: Tx, work: Work<F>, fetched: F | undefined): Promise<Answer> {
  try {
    return await undoneIfThrown(tx, () => work.inside(tx, fetched));
  } catch (error) {
    if (error instanceof Refusal) return refusalOf(error, work);
    throw error;
  }
}

function refusalOf<F>(refusal: Refusal, work: Work<F>): Answer {
  if (neverStored.includes(refusal.code)) throw refusal;
  return work.refused(refusal);
}

const lock = prepared('select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as had');
const find = prepared(`
  select fingerprint, status, location, body, running_until > coalesce($4::timestamptz, clock_timestamp()) as running,
         stored_at > coalesce($4::timestamptz, clock_timestamp()) - interval '${keptHours} hours' as live
    from stored_answer where dealer_id = $1 and principal = $2 and key = $3`);

/** The answer given before; `null` when the work is still to be done. Refuses a twin under way and another request under the same key. */
async function lookBack(tx: Tx, { key, fingerprint }: Repeatable): Promise<Answer | null> {
  const { connection } = tx.tx;
  // Two statements, sent together: the second must see what was committed when the lock was had.
  const locking = connection.query({ ...lock, values: [boundTo(tx, key)] });
  const finding = connection.query({ ...find, values: [tx.dealer.id, principal(tx), key, tx.service.clock()] });
  const [{ rows: locks }, { rows: answers }] = await Promise.all([locking, finding]);
  if (!locks[0].had) throw new Refusal('idempotency_key_in_use');
  const found = answers[0];
  if (!found?.live) return null;
  if (!fingerprint.equals(found.fingerprint)) throw new Refusal('idempotency_key_reused');
  if (found.status !== null) {
    return { status: found.status, location: found.location, body: tx.service.keyring.unseal(found.body, boundTo(tx, key)) };
  }
  if (found.running) throw new Refusal('idempotency_key_in_use');
  return null;
}

const save = prepared(`
  insert into stored_answer as a (dealer_id, principal, key, fingerprint, status, location, body, stored_at)
  values ($1, $2, $3, $4, $5, $6, $7, coalesce($8::timestamptz, clock_timestamp()))
  on conflict (dealer_id, principal, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
    location = excluded.location, body = excluded.body, stored_at = excluded.stored_at, running_owner = null, running_until = null`);

/** Bodies are sealed: they can hold secrets that are shown once. */
async function store(tx: Tx, { key, fingerprint }: Repeatable, { status, location, body }: Answer): Promise<void> {
  const sealed = tx.service.keyring.seal(body, boundTo(tx, key));
  const values = [tx.dealer.id, principal(tx), key, fingerprint, status, location, sealed, tx.service.clock()];
  await tx.tx.connection.query({ ...save, values });
}

const claimKey = prepared(`
  insert into stored_answer as a (dealer_id, principal, key, fingerprint, running_owner, running_until, stored_at)
  values ($1, $2, $3, $4, $5, coalesce($6::timestamptz, clock_timestamp()) + interval '${leaseSeconds} seconds',
          coalesce($6::timestamptz, clock_timestamp()))
  on conflict (dealer_id, principal, key) do update set fingerprint = excluded.fingerprint, status = null, location = null, body = null,
    stored_at = excluded.stored_at, running_owner = excluded.running_owner, running_until = excluded.running_until`);

async function claim(tx: Tx, { key, fingerprint }: Repeatable, owner: string): Promise<void> {
  await tx.tx.connection.query({ ...claimKey, values: [tx.dealer.id, principal(tx), key, fingerprint, owner, tx.service.clock()] });
}

const hold = prepared('select 1 from stored_answer where dealer_id = $1 and principal = $2 and key = $3 and running_owner = $4 for update');

async function holdClaim(tx: Tx, { key }: Repeatable, owner: string): Promise<void> {
  const { rowCount } = await tx.tx.connection.query({ ...hold, values: [tx.dealer.id, principal(tx), key, owner] });
  if (rowCount === 0) throw new Refusal('idempotency_key_in_use'); // The lease ended and another took over.
}

const giveUp = prepared('delete from stored_answer where dealer_id = $1 and principal = $2 and key = $3 and running_owner = $4');

async function release(tx: Tx, { key }: Repeatable, owner: string): Promise<void> {
  await tx.tx.connection.query({ ...giveUp, values: [tx.dealer.id, principal(tx), key, owner] });
}

/** Deletes the answers kept long enough, and allowances whose window is long over; a thousand rows at a time. */
export async function sweepAnswers({ pools }: Context['service']): Promise<void> {
  const some = 1_000;
  for (;;) {
    const { rowCount } = await pools.doors.query(
      `delete from stored_answer where ctid = any(array(
         select ctid from stored_answer where stored_at < clock_timestamp() - interval '${keptHours} hours' limit ${some}))`,
    );
    if ((rowCount ?? 0) < some) break;
  }
  await pools.doors.query("delete from allowance where ends < clock_timestamp() - interval '10 minutes'");
}

const principal = (ctx: Context): string => `${ctx.caller.kind}:${ctx.caller.id}`;

const boundTo = (ctx: Context, key: string): string => `${ctx.dealer.id}|${principal(ctx)}|${key}`;

/** JSON with sorted names, so that the order of members and white space make no other request. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? '';
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`;
}
