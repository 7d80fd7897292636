import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import type { Operation } from '../contract.ts';
import type { Doors } from '../doors.ts';
import type { Refusal } from '../errors.ts';
import type { Answer } from './failures.ts';
import type { Outcome } from './once.ts';

/** What a handler is given: the request, read and checked against the operation. */
export interface Input<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

/** A success other than the operation's usual one (`success.or`). */
export class AnotherSuccess {
  readonly status: 200;
  readonly data: unknown;
  constructor(status: 200, data: unknown) {
    this.status = status;
    this.data = data;
  }
}

/** Answers with the status of `success.or`. */
export const answerAs = (status: 200, data: unknown): AnotherSuccess => new AnotherSuccess(status, data);

/** An operation and the function that answers it. */
export interface Route {
  readonly operation: Operation;
  /** Whether this request calls other services, where not every one does. */
  readonly callsOut?: (input: Input<unknown, unknown, unknown>) => boolean;
  /** The calls to other services a POST makes first, with no transaction open. */
  readonly outside?: (ctx: Context, input: Input<unknown, unknown, unknown>) => Promise<unknown>;
  readonly handle: (ctx: Context, input: Input<unknown, unknown, unknown>, fetched: unknown) => Promise<unknown>;
}

type InputOf<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = Input<z.output<P>, z.output<Q>, z.output<B>>;

/** Says which function answers which operation. */
export const answer = <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  operation: Operation<P, Q, B>,
  handle: (ctx: Context, input: InputOf<P, Q, B>) => Promise<unknown>,
): Route => ({ operation, handle }) as Route;

/** The same for a POST that calls out: `outside` runs before, without a transaction; its result reaches `handle`. */
export const answerAfter = <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, F>(
  operation: Operation<P, Q, B>,
  outside: (ctx: Context, input: InputOf<P, Q, B>) => Promise<F>,
  handle: (ctx: Context, input: InputOf<P, Q, B>, fetched: F) => Promise<unknown>,
): Route => ({ operation, outside, handle }) as unknown as Route;

/** The same where the request decides: one that `callsOut` says no to is answered like any other, and nothing was fetched. */
export const answerAfterIf = <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, F>(
  operation: Operation<P, Q, B>,
  callsOut: (input: InputOf<P, Q, B>) => boolean,
  outside: (ctx: Context, input: InputOf<P, Q, B>) => Promise<F>,
  handle: (ctx: Context, input: InputOf<P, Q, B>, fetched: F | undefined) => Promise<unknown>,
): Route => ({ operation, callsOut, outside, handle }) as unknown as Route;

/** A request that was let in, before anything of its body was read. */
export interface Admitted {
  readonly message: IncomingMessage;
  readonly url: string;
  readonly params: Record<string, string>;
  readonly bodyTimeoutMs: number | undefined;
  /** The refusal that whatever was thrown is told as: a fault of ours is logged, and has no detail. */
  readonly asRefusal: (thrown: unknown) => Refusal;
  /** The answer that stands for a refusal. */
  readonly asRefused: (refusal: Refusal) => Answer;
  readonly permissionBehind: Doors['permissionBehind'];
  /** Says in the log what of the operation was asked for. */
  readonly name: (part: string) => void;
}

/** An operation that reads and writes its bodies in a form of its own, behind the same doors. The body it answers goes out as it is. */
export interface BareRoute {
  readonly operation: Operation;
  readonly respond: (ctx: Context, admitted: Admitted) => Promise<Outcome>;
}
