import type { Wrong } from './judge.ts';
import type { Records } from './records.ts';
import { causeOf } from './records.ts';

type Note = (kind: Wrong, what: string) => void;

/** Whether the events are those that the acknowledged changes caused, each once, and in the order in which they were committed. */
export function checkEvents(records: Records, note: Note): void {
  const { acknowledged, listed, followed } = records;
  const times = new Map<string, number>();
  for (const { dealerId, type, about } of listed) count(times, ownCause(dealerId, causeOf(type, about)));
  const expected = new Set(acknowledged.flatMap(({ dealerId, causes }) => causes.map((cause) => ownCause(dealerId, cause))));
  for (const cause of expected) if (times.get(cause) !== 1) note('not listed once', `${cause}: ${times.get(cause) ?? 0} times`);
  for (const cause of times.keys()) if (!expected.has(cause)) note('unasked', cause);

  for (const [dealerId, events] of Map.groupBy(listed, (event) => event.dealerId)) {
    for (const [i, { sequence, at, id }] of events.entries()) {
      if (sequence !== i + 1) note('out of order', `${id} is number ${sequence} and listed as number ${i + 1}`);
      if (at < (events[i - 1]?.at ?? 0)) note('out of order', `${id} happened before the one listed before it`);
    }
    const told = followed.get(dealerId) ?? [];
    for (let i = 0; i < Math.max(told.length, events.length); i++)
      if (told[i] !== events[i]?.id) note('not followed', `${told[i]} where ${events[i]?.id} is listed`);
  }
  checkCommits(records, note);
}

/** A change that was asked for when another was already known to be done comes after it. */
function checkCommits({ acknowledged, listed }: Records, note: Note): void {
  const numbers = new Map(listed.map(({ dealerId, type, about, sequence }) => [ownCause(dealerId, causeOf(type, about)), sequence]));
  const numbersOf = ({ dealerId, causes }: Records['acknowledged'][number]) =>
    causes.flatMap((cause) => numbers.get(ownCause(dealerId, cause)) ?? []);
  for (const changes of Map.groupBy(acknowledged, ({ dealerId }) => dealerId).values()) {
    const done = changes.toSorted((one, other) => one.knownAt - other.knownAt);
    let last = 0;
    let seen = 0;
    for (const change of changes.toSorted((one, other) => one.sentAt - other.sentAt)) {
      for (; done[seen] && done[seen]!.knownAt < change.sentAt; seen++) last = Math.max(last, ...numbersOf(done[seen]!));
      if (numbersOf(change).some((number) => number <= last))
        note('out of order', `${change.causes[0]} comes before what was done before it`);
    }
  }
}

const ownCause = (dealerId: string, cause: string): string => `${dealerId} ${cause}`;
const count = (times: Map<string, number>, what: string) => void times.set(what, (times.get(what) ?? 0) + 1);
