import type { Dealer } from './dealers.ts';
import type { Ground } from './ground.ts';
import type { Statement } from './statements.ts';
import { nameOf, watch } from './statements.ts';

export interface Asked {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends a request to the API inside this process; anything but a success ends the run. */
export async function send({ inside }: Ground, { key }: Dealer, { method, path, headers, body }: Asked): Promise<string> {
  const response = await inside.inject({
    method,
    url: path,
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { payload: body }),
  });
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${response.payload}`);
  return response.payload;
}

/** What a request costs the database. */
export interface Cost {
  /** Every statement, as PostgreSQL tells of it, in few words. */
  readonly statements: readonly string[];
  /** How often the API sends and has to wait. */
  readonly roundTrips: number;
}

/** What the API sent to answer one request, and the answer. */
export interface SentFor {
  readonly body: string;
  readonly roundTrips: number;
  /** The statement of this name, with its values. */
  statement(name: string): Statement;
}

export async function sentFor(ground: Ground, dealer: Dealer, asked: Asked): Promise<SentFor> {
  let body = '';
  const { statements, roundTrips } = await watch(async () => {
    body = await send(ground, dealer, asked);
  });
  return {
    body,
    roundTrips,
    statement(name) {
      const found = statements.find(({ sql }) => nameOf(sql) === name);
      if (!found) throw new Error(`No "${name}" among ${statements.map(({ sql }) => nameOf(sql)).join(', ')}.`);
      return found;
    },
  };
}

export interface Probed extends Omit<SentFor, 'roundTrips'> {
  readonly cost: Cost;
}

/** Looks at a request, once the connections it uses are open and have its statements prepared. */
export async function probe(ground: Ground, dealer: Dealer, ask: () => Asked): Promise<Probed> {
  await send(ground, dealer, ask());
  const ran = await ground.ranDuring(() => send(ground, dealer, ask()));
  const { roundTrips, ...sent } = await sentFor(ground, dealer, ask());
  return { ...sent, cost: { statements: ran.map(nameOf), roundTrips } };
}
