import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Exchange } from '../../support/traffic.ts';

/** Where the suite's traffic was written. */
export function trafficFolder(): string {
  const folder = process.env.TEST_TRAFFIC;
  if (!folder)
    throw new Error('These tests judge the traffic of the others: run `npm test`, or name a folder it was written to in TEST_TRAFFIC.');
  return folder;
}

export type Kind = 'accepted' | 'refused';

/** Every exchange of the suite, or those of one kind, one at a time. */
export function* exchanges(...kinds: Kind[]): Generator<Exchange> {
  for (const kind of kinds.length > 0 ? kinds : ['accepted', 'refused'])
    for (const name of readdirSync(join(trafficFolder(), kind)))
      for (const line of readFileSync(join(trafficFolder(), kind, name), 'utf8').split('\n')) if (line) yield JSON.parse(line);
}
