import autocannon from 'autocannon';

/** A request to be sent over and over: made anew each time when it is a function. */
export type Shot = autocannon.Request | (() => autocannon.Request);

/** Each in turn, over and over. */
export function inTurn<T>(all: readonly T[]): () => T {
  let turn = 0;
  return () => all[turn++ % all.length]!;
}

/** Where load goes. */
export interface Target {
  readonly url: string;
  readonly shot: Shot;
}

export interface Figures {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export const connections = 16;
const warmUpSeconds = 2;
const rounds = 5;
const roundSeconds = 2;

/** Loads each target in turn, several times over, so that what the machine does meanwhile meets all of them alike. Of the rates the median counts. */
export async function compare<T extends readonly Target[]>(...targets: T): Promise<{ [K in keyof T]: Figures }> {
  for (const target of targets) await fire(target, connections, warmUpSeconds);
  const taken = targets.map(() => ({ times: [] as number[], rates: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const [i, target] of targets.entries()) {
      const { times, seconds } = await fire(target, connections, roundSeconds);
      taken[i]!.times.push(...times);
      taken[i]!.rates.push(times.length / seconds);
    }
  }
  return taken.map(({ times, rates }) => ({ ...figuresOf(times, 1), perSecond: median(rates) })) as { [K in keyof T]: Figures };
}

/** Loads one target. */
export async function measure(target: Target, seconds: number, among = connections): Promise<Figures> {
  const { times, seconds: taken } = await fire(target, among, seconds);
  return figuresOf(times, taken);
}

export function figuresOf(times: readonly number[], seconds: number): Figures {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { perSecond: times.length / seconds, p50: at(0.5), p99: at(0.99) };
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Any answer but a success ends the run: a figure of refusals would be none. */
function fire({ url, shot }: Target, among: number, duration: number): Promise<{ times: number[]; seconds: number }> {
  const request = typeof shot === 'function' ? { ...shot(), setupRequest: shot } : shot;
  const times: number[] = [];
  return new Promise((resolve, reject) => {
    const run = autocannon({ url, connections: among, duration, requests: [request] }, (error, result) => {
      if (error) return reject(error);
      const { errors, timeouts, non2xx, statusCodeStats } = result;
      if (errors + timeouts + non2xx > 0) {
        return reject(
          new Error(`${errors} errors, ${timeouts} timeouts, answers ${JSON.stringify(statusCodeStats)} of ${url}${request.path}`),
        );
      }
      return resolve({ times, seconds: result.duration });
    });
    run.on('response', (_client: unknown, _status: number, _bytes: number, ms: number) => void times.push(ms));
  });
}
