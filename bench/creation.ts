import { randomUUID } from 'node:crypto';
import type { BareAnswer } from './bare.ts';
import type { Dealer } from './dealers.ts';
import { newDealers, readerBy } from './dealers.ts';
import type { Ground } from './ground.ts';
import type { Shot } from './load.ts';
import { compare, inTurn } from './load.ts';
import type { Asked } from './probe.ts';
import { probe, sentFor } from './probe.ts';
import { comparisonHeadings, comparisonRow, print } from './table.ts';

const many = 50;

/** A record that is created by a POST. */
export interface Creation {
  readonly title: string;
  readonly path: string;
  readonly shows: BareAnswer['shows'];
  /** What is sent, by what it is called; the bare server inserts what came of the first. */
  readonly bodies: Readonly<Record<string, () => string>>;
}

/** A record created with and without an idempotency key, for one dealer, whose writers take turns, and over many. */
export async function measureCreation(ground: Ground, { title, path, shows, bodies }: Creation): Promise<void> {
  const dealers = await newDealers(ground.service, many);
  const api = await ground.startApi();
  const [first] = Object.values(bodies) as [() => string];

  const answers: BareAnswer[] = [];
  for (const [i, dealer] of dealers.entries()) {
    await sentFor(ground, dealer, { method: 'POST', path, body: first() });
    const { statement } = await sentFor(ground, dealer, { method: 'POST', path, body: first() });
    answers.push({ method: 'POST', path: bareWrite(i), statement: statement(`insert ${shows}`), shows });
  }
  const bare = await ground.startBare({ reader: readerBy(dealers[0]!), answers });

  const rows: string[][] = [];
  const told: string[] = [];
  for (const [name, body] of Object.entries(bodies)) {
    const plain = creation(path, body, () => ({}));
    const keyed = creation(path, body, () => ({ 'idempotency-key': randomUUID() }));
    for (const [how, create] of [
      [name, plain],
      [`${name}, with a key`, keyed],
    ] as const) {
      const { cost } = await probe(ground, dealers[0]!, create);
      told.push(`SQL, ${how}: ${cost.statements.join(' · ')}.`);
      for (const [who, count] of [
        ['one dealer', 1],
        [`${many} dealers`, many],
      ] as const) {
        const [figures, others] = await compare(
          { url: api, shot: by(dealers.slice(0, count), create) },
          { url: bare, shot: bareCreation(count, first) },
        );
        rows.push(comparisonRow(`${how}, ${who}`, figures, others, cost));
      }
    }
  }
  print(title, comparisonHeadings, rows);
  console.log('\nThe bare server inserts and commits; it takes no turn and writes no event, activity or stored answer.');
  for (const line of told) console.log(line);
}

const bareWrite = (dealer: number) => `/${dealer}`;

type Create = () => Asked & { method: 'POST' };

const creation =
  (path: string, body: () => string, headers: () => Record<string, string>): Create =>
  () => ({ method: 'POST', path, body: body(), headers: headers() });

function by(dealers: readonly Dealer[], create: Create): Shot {
  const dealer = inTurn(dealers);
  return () => {
    const asked = create();
    return { ...asked, headers: { ...asked.headers, authorization: `Bearer ${dealer().key}`, 'content-type': 'application/json' } };
  };
}

function bareCreation(count: number, body: () => string): Shot {
  const to = inTurn(Array.from({ length: count }, (_, i) => bareWrite(i)));
  return () => ({ method: 'POST', path: to(), headers: { 'content-type': 'application/json' }, body: body() });
}
