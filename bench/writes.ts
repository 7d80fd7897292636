import { randomUUID } from 'node:crypto';
import { readerOf } from '#platform/context.ts';
import type { BareAnswer } from './bare.ts';
import type { Dealer } from './dealers.ts';
import { newDealers } from './dealers.ts';
import type { Ground } from './ground.ts';
import type { Shot } from './load.ts';
import { compare } from './load.ts';
import type { Asked } from './probe.ts';
import { probe } from './probe.ts';
import { registrationNumber, vehicleNumber } from './stock.ts';
import { comparisonHeadings, comparisonRow, print } from './table.ts';

const many = 50;
const path = '/v1/vehicles';

/** A vehicle created with and without an idempotency key, for one dealer, whose writers take turns, and over many. */
export async function measureWrites(ground: Ground): Promise<void> {
  const dealers = await newDealers(ground.service, many);
  const api = await ground.startApi();

  const create = (headers?: Record<string, string>) => (): Asked => ({ method: 'POST', path, body: body(), ...(headers && { headers }) });
  const plain = await probe(ground, dealers[0]!, create());
  const keyed = await probe(ground, dealers[0]!, () => create({ 'idempotency-key': randomUUID() })());
  const answers: BareAnswer[] = [];
  for (const [i, dealer] of dealers.entries()) {
    const { statement } = await probe(ground, dealer, create());
    answers.push({ method: 'POST', path: bareWrite(i), statement: statement('insert vehicle') });
  }
  const { now: _now, ...reader } = readerOf({ ...dealers[0]!.ctx, caller: { ...dealers[0]!.ctx.caller, kind: 'secret' } });
  const bare = await ground.startBare({ reader, answers });

  const rows: string[][] = [];
  for (const [who, count] of [
    ['one dealer', 1],
    [`${many} dealers`, many],
  ] as const) {
    for (const [how, { cost }] of [
      ['', plain],
      [', with a key', keyed],
    ] as const) {
      const ours = creation(dealers.slice(0, count), how !== '');
      const [figures, others] = await compare({ url: api, shot: ours }, { url: bare, shot: bareCreation(count) });
      rows.push(comparisonRow(`created, ${who}${how}`, figures, others, cost));
    }
  }
  print('Writes', comparisonHeadings, rows);
  console.log(`\nThe bare server inserts and commits; it takes no turn and writes no event, activity or stored answer.`);
  console.log(`SQL of a creation: ${plain.cost.statements.join(' · ')}.\nWith an idempotency key: ${keyed.cost.statements.join(' · ')}.`);
}

const bareWrite = (dealer: number) => `/vehicles/${dealer}`;

function creation(dealers: readonly Dealer[], withKey: boolean): Shot {
  const dealer = inTurn(dealers);
  return () => ({
    method: 'POST',
    path,
    headers: {
      authorization: `Bearer ${dealer().key}`,
      'content-type': 'application/json',
      ...(withKey && { 'idempotency-key': randomUUID() }),
    },
    body: body(),
  });
}

function bareCreation(count: number): Shot {
  const to = inTurn(Array.from({ length: count }, (_, i) => bareWrite(i)));
  return () => ({ method: 'POST', path: to(), headers: { 'content-type': 'application/json' }, body: body() });
}

const inTurn = <T>(all: readonly T[]) => {
  let turn = 0;
  return (): T => all[turn++ % all.length]!;
};
/** A car is in stock once, so each has a registration of its own. */
const body = (): string => {
  const n = made++;
  return texts[n % texts.length]!.replace(/BN\d{6}/, registrationNumber(n));
};
const texts = Array.from({ length: 200 }, (_, n) => JSON.stringify(vehicleNumber(n)));
let made = 0;
