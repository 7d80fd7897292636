import type { Code } from '../errors.ts';
import { Refusal } from '../errors.ts';

/** What is answered when the turn is not had in time: `stock_busy` by writes of vehicles and parts. */
export type Busy = Extract<Code, 'service_unavailable' | 'stock_busy'>;

/** A turn not had within this time, waiting in line included, is refused. */
export const patienceMs = 5_000;

export const busyRefusal = (busy: Busy): Refusal =>
  new Refusal(busy, 'The dealership is being written to. Retry shortly; it is safe to.', { retryAfterSeconds: 5 });

/**
 * One dealer's writes are done one after the other, so few of a process's connections are theirs at a time: the others wait here,
 * where they cost nothing, and the requests of other dealers find a connection. Returns what gives the place back.
 */
export async function placeInLine(pool: object, dealerId: string, busy: Busy): Promise<() => void> {
  const line = lineOf(pool, dealerId);
  if (line.taken < places) line.taken++;
  else await handedOn(line, busy);
  return () => {
    const next = line.waiting.shift();
    if (next) return next();
    line.taken--;
    if (line.taken === 0) lines.get(pool)?.delete(dealerId);
  };
}

/** One for whoever has the turn, one for the next, and one for a twin that must be told at once that the first is under way. */
const places = 3;

interface Line {
  taken: number;
  readonly waiting: (() => void)[];
}

const lines = new WeakMap<object, Map<string, Line>>();

function lineOf(pool: object, dealerId: string): Line {
  const ofPool = lines.get(pool) ?? new Map<string, Line>();
  lines.set(pool, ofPool);
  const line = ofPool.get(dealerId) ?? { taken: 0, waiting: [] };
  ofPool.set(dealerId, line);
  return line;
}

function handedOn(line: Line, busy: Busy): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      line.waiting.splice(line.waiting.indexOf(go), 1);
      reject(busyRefusal(busy));
    }, patienceMs);
    line.waiting.push(go);
  });
}
