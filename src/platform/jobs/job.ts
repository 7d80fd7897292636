import type { z } from 'zod';
import type { Caller, Context, Dealer } from '../context.ts';
import { transactionConnection } from '../db/transaction.ts';

/** A piece of background work: its name, what it is given, and how it is retried. */
export interface Job<P extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly payload: P;
  /** How many a process runs at once. */
  readonly atOnce: number;
  /** How many of one dealer's may run at once, so that nobody's thousand jobs stand before another's one. */
  readonly perDealer: number;
  /** What the job is about, for whoever asks whether one of it is under way. */
  readonly key?: (payload: z.input<P>) => string;
  /** Its own id, where it must stay one job however often it is queued. */
  readonly id?: (payload: z.input<P>) => string;
}

/** What a job carries: its payload, and who asked for it. */
export interface Parcel {
  readonly dealer: Pick<Dealer, 'id'>;
  readonly caller: Caller;
  readonly requestId: string | null;
  readonly payload: unknown;
}

export interface Handler {
  readonly job: Job;
  readonly run: (ctx: Context, payload: unknown) => Promise<void>;
}

/** Work that comes round by the clock, for all dealers. */
export interface Schedule {
  readonly name: string;
  /** Five fields, UTC. */
  readonly cron: string;
  readonly run: (service: Context['service']) => Promise<void>;
}

export const job = <P extends z.ZodType>(
  name: string,
  payload: P,
  options: Partial<Pick<Job<P>, 'atOnce' | 'perDealer' | 'key' | 'id'>> = {},
): Job<P> => ({ name, payload, atOnce: 4, perDealer: 1, ...options });

export const runs = <P extends z.ZodType>(declared: Job<P>, run: (ctx: Context, payload: z.output<P>) => Promise<void>): Handler =>
  ({ job: declared, run }) as unknown as Handler;

/** Queues the job in the transaction of the work that asks for it: it exists when that commits, and never otherwise. */
export const enqueue = <P extends z.ZodType>(tx: Context, declared: Job<P>, payload: z.input<P>): Promise<void> =>
  send(tx, { dealer: tx.dealer, caller: tx.caller }, declared, payload);

/** The same for another dealership than the transaction's, as it is whose key it was in the sandbox. What it does there is a transaction of its own. */
export const enqueueFor = <P extends z.ZodType>(tx: Context, dealerId: string, declared: Job<P>, payload: z.input<P>): Promise<void> =>
  send(tx, { dealer: { id: dealerId }, caller: { ...tx.caller, callingDealerId: dealerId } }, declared, payload);

function send<P extends z.ZodType>(
  tx: Context,
  { dealer, caller }: Pick<Parcel, 'dealer' | 'caller'>,
  { name, key, id }: Job<P>,
  payload: z.input<P>,
): Promise<void> {
  const parcel: Parcel = { dealer, caller, requestId: tx.requestId, payload };
  return tx.service.queue.send(transactionConnection(tx), name, parcel, { key: key?.(payload), id: id?.(payload) });
}
