import { findDealer, operatorOf } from '#modules/dealers/index.ts';
import { addJobLines, createJobCard } from '#modules/job-cards/index.ts';
import { issueKey } from '#modules/keys/index.ts';
import { createPart, receiveParts } from '#modules/parts/index.ts';
import { userIdByEmail } from '#modules/staff/index.ts';
import type { Service } from '#platform/service.ts';
import { createDemo } from '../src/app/prepare.ts';
import type { BareAnswer } from './bare.ts';
import type { Dealer } from './dealers.ts';
import { newDealers, readerBy } from './dealers.ts';
import type { Ground } from './ground.ts';
import { compare, inTurn, measure } from './load.ts';
import type { Cost } from './probe.ts';
import { probe } from './probe.ts';
import { sameAnswer } from './same.ts';
import { comparisonHeadings, comparisonRow, print } from './table.ts';

/** The lists of what is traded and done in the workshop, of the demo dealership, next to the bare server. */
const lists = {
  deals: ['/v1/deals?limit=25', 'deal', 'deal'],
  appointments: ['/v1/appointments?limit=25', 'appointment', 'appointment'],
  'job cards': ['/v1/job-cards?limit=25', 'job_card', 'jobCard'],
  invoices: ['/v1/invoices?limit=25', 'invoice', 'invoice'],
  'the stock book': ['/v1/stock-book?limit=25', 'vehicle', 'entry'],
} as const;

/** A page of each list, and a job card that is moved, which takes its part from the shelf and puts it back. */
export async function measureTrade(ground: Ground): Promise<void> {
  const [other] = (await newDealers(ground.service, 1)) as [Dealer];
  const demo = { ...other, ...(await theDemo(ground.service)) };
  const api = await ground.startApi();

  const seen: { name: string; path: string; cost: Cost; answer: BareAnswer }[] = [];
  for (const [name, [path, table, shows]] of Object.entries(lists)) {
    const { cost, body, statement } = await probe(ground, demo, () => ({ method: 'GET', path }));
    const answer = { method: 'GET', path, statement: statement(`select ${table}`), shows, meta: JSON.parse(body).meta } as const;
    seen.push({ name, path, cost, answer });
  }
  const bare = await ground.startBare({ reader: readerBy(demo), answers: seen.map(({ answer }) => answer) });
  const headers = { authorization: `Bearer ${demo.key}` };
  const rows: string[][] = [];
  for (const { name, path, cost } of seen) {
    await sameAnswer(api, bare, path, headers);
    const [figures, others] = await compare(
      { url: api, shot: { method: 'GET', path, headers } },
      { url: bare, shot: { method: 'GET', path } },
    );
    rows.push(comparisonRow(`a page of ${name}`, figures, others, cost));
  }
  print('Lists of the demo dealership', comparisonHeadings, rows);
  await measureMoves(ground, api, other);
}

/** The demo dealership, with a key that may ask as often as it likes. */
async function theDemo(service: Service): Promise<Pick<Dealer, 'ctx' | 'key'>> {
  const { dealer, sign_in } = await createDemo(service);
  const found = await findDealer(service, { code: dealer });
  if (!found) throw new Error('The demo dealership is not there.');
  const ctx = operatorOf(service, found.dealer, found.now);
  const ownerId = (await userIdByEmail(ctx, sign_in.email)) ?? '';
  const { key } = await issueKey(ctx, { name: 'Bench', ownerId, kind: 'secret', environment: 'live', rateLimit: 1_000_000 });
  return { ctx, key };
}

const cards = 64;

/** Each request moves a card to or from COMPLETED, so each moves a part. */
async function measureMoves(ground: Ground, api: string, dealer: Dealer): Promise<void> {
  const { ctx, branchId, key } = dealer;
  const part = await createPart(ctx, { part_number: 'OF-1042', description: 'Oil filter', unit_price: 1_150, unit_cost: 520 });
  await receiveParts(ctx, { branch_id: branchId, note: 'First stock', lines: [{ part_id: part.id, quantity: cards }] });
  const ids: string[] = [];
  for (let n = 0; n < cards; n++) {
    const { id } = await createJobCard(ctx, { status: 'BOOKED', customer_vehicle: { registration: `BN${1000 + n}` }, branch_id: branchId });
    await addJobLines(ctx, id, [{ kind: 'PART', part_number: 'OF-1042', quantity: 1, authorised: true }]);
    ids.push(id);
  }
  const turns = inTurn([...ids.map((id) => ({ id, status: 'COMPLETED' })), ...ids.map((id) => ({ id, status: 'BOOKED' }))]);
  const move = () => {
    const { id, status } = turns();
    return { method: 'PATCH' as const, path: `/v1/job-cards/${id}`, body: JSON.stringify({ status }) };
  };
  const { cost } = await probe(ground, dealer, move);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const { perSecond, p50, p99 } = await measure({ url: api, shot: () => ({ ...move(), headers }) }, 10);
  console.log(
    `\nA job card moved with its part, one dealer: ${perSecond.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(0)} ms, ` +
      `${cost.statements.length} SQL statements in ${cost.roundTrips} round trips: ${cost.statements.join(' · ')}.`,
  );
}
