import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countParts, receiveParts } from '#modules/parts/index.ts';
import { Refusal } from '#platform/errors.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { script, start } from '../../../test/support/processes.ts';
import { cardWith, invoiceFor, lineOf, movementsOf, partWith, setInvoice, shelf } from '../../../test/support/workshop.ts';
import type { JobCardStatus } from './contract.ts';
import { jobCardStatuses } from './contract.ts';
import {
  addJobLines,
  authoriseLines,
  changeJobLine,
  deleteJobCard,
  getJobCard,
  markInvoiced,
  removeJobLine,
  updateJobCard,
} from './index.ts';

type Json = ReturnType<typeof JSON.parse>;

const eventsAbout = async ({ service, id }: Dealership, cardId: string): Promise<{ type: string; data: Json }[]> => {
  const { rows } = await service.pools.doors.query(
    'select type, data from event where dealer_id = $1 and resource_id = $2 order by sequence',
    [id, cardId],
  );
  return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) }));
};

// ---- Every status to every other ----

/**
 * A card with three authorised parts of ten, a fourth that nobody authorised: from the status on the left to the one above, on hand and reserved
 * before and after. The API moves it but to INVOICED, to which the invoice alone moves it, and never a cancelled one; its invoice is credited,
 * or it would not move from there.
 */
const moves = `
                       | ESTIMATE   | BOOKED     | CHECKED_IN | IN_PROGRESS | AWAITING_PARTS | AWAITING_AUTHORISATION | COMPLETED  | INVOICED   | CANCELLED
ESTIMATE               | 10/0 10/0  | 10/0 10/3  | 10/0 10/3  | 10/0 10/3   | 10/0 10/3      | 10/0 10/3              | 10/0 7/0   | 10/0 7/0   | 10/0 10/0
BOOKED                 | 10/3 10/0  | 10/3 10/3  | 10/3 10/3  | 10/3 10/3   | 10/3 10/3      | 10/3 10/3              | 10/3 7/0   | 10/3 7/0   | 10/3 10/0
CHECKED_IN             | 10/3 10/0  | 10/3 10/3  | 10/3 10/3  | 10/3 10/3   | 10/3 10/3      | 10/3 10/3              | 10/3 7/0   | 10/3 7/0   | 10/3 10/0
IN_PROGRESS            | 10/3 10/0  | 10/3 10/3  | 10/3 10/3  | 10/3 10/3   | 10/3 10/3      | 10/3 10/3              | 10/3 7/0   | 10/3 7/0   | 10/3 10/0
AWAITING_PARTS         | 10/3 10/0  | 10/3 10/3  | 10/3 10/3  | 10/3 10/3   | 10/3 10/3      | 10/3 10/3              | 10/3 7/0   | 10/3 7/0   | 10/3 10/0
AWAITING_AUTHORISATION | 10/3 10/0  | 10/3 10/3  | 10/3 10/3  | 10/3 10/3   | 10/3 10/3      | 10/3 10/3              | 10/3 7/0   | 10/3 7/0   | 10/3 10/0
COMPLETED              | 7/0 10/0   | 7/0 10/3   | 7/0 10/3   | 7/0 10/3    | 7/0 10/3       | 7/0 10/3               | 7/0 7/0    | 7/0 7/0    | 7/0 10/0
INVOICED               | 7/0 10/0   | 7/0 10/3   | 7/0 10/3   | 7/0 10/3    | 7/0 10/3       | 7/0 10/3               | 7/0 7/0    | 7/0 7/0    | 7/0 10/0
CANCELLED              | 10/0 10/0  | 10/0 10/3  | 10/0 10/3  | 10/0 10/3   | 10/0 10/3      | 10/0 10/3              | 10/0 7/0   | 10/0 10/0  | 10/0 10/0`;

interface Cell {
  readonly from: JobCardStatus;
  readonly to: JobCardStatus;
  readonly stock: string;
}

function cells(table: string): Cell[] {
  const [head = [], ...rows] = table
    .trim()
    .split('\n')
    .map((row) => row.split('|').map((cell) => cell.trim()));
  return rows.flatMap(([from, ...stocks]) => stocks.map((stock, i) => ({ from, to: head.at(i - stocks.length), stock }) as Cell));
}

/** What the line has in a status, and the movement that leads from one to another. */
const held = (stock: string): string => ({ '10/0': 'NONE', '10/3': 'RESERVED', '7/0': 'ISSUED' })[stock] ?? stock;
const movementOf: Record<string, string[]> = {
  'NONE RESERVED': ['RESERVED 0 3'],
  'NONE ISSUED': ['ISSUED -3 0'],
  'RESERVED NONE': ['RELEASED 0 -3'],
  'RESERVED ISSUED': ['ISSUED -3 -3'],
  'ISSUED NONE': ['RETURNED 3 0'],
  'ISSUED RESERVED': ['RETURNED 3 3'],
};

test('any status to any status and back: the parts of a job card move as the table says, and back exactly', async () => {
  const dealer = await dealership();
  const { api, ctx } = dealer;
  const table = cells(moves);
  assert.equal(table.length, 81);
  assert.deepEqual([...new Set(table.map(({ from }) => from))], [...jobCardStatuses]);
  assert.deepEqual([...new Set(table.map(({ to }) => to))], [...jobCardStatuses]);

  for (const from of jobCardStatuses) {
    const [part, other] = [await partWith(dealer, 10), await partWith(dealer, 10)];
    const card = await cardWith(dealer, [lineOf(part, 3), { ...lineOf(other, 2), authorised: false }]);
    const path = `/v1/job-cards/${card.id}`;
    await invoiceFor(dealer, card.id, 'CREDITED');
    const move = (status: JobCardStatus) => (status === 'INVOICED' ? markInvoiced(ctx, card.id) : api.patch(path, { status }).succeeds());
    const moved = async (since: number) =>
      (await movementsOf(dealer, part)).slice(since).map(({ kind, on_hand, reserved }) => `${kind} ${on_hand} ${reserved}`);
    await move(from);

    for (const { to, stock } of table.filter((cell) => cell.from === from)) {
      const what = `${from} to ${to}`;
      const before = await shelf(dealer, part);
      const [events, movements] = [(await eventsAbout(dealer, card.id)).length, (await movementsOf(dealer, part)).length];
      if (to === 'INVOICED') await api.patch(path, { status: to }).refuses(422, 'validation_failed');
      assert.equal(await shelf(dealer, part), before, what);
      if (from === 'CANCELLED' && to === 'INVOICED') {
        await assert.rejects(move(to), { code: 'request_refused' });
        assert.equal(`${before} ${await shelf(dealer, part)}`, stock, what);
        continue;
      }
      await move(to);

      const seen = await api.get(path).succeeds();
      assert.equal(`${before} ${await shelf(dealer, part)}`, stock, what);
      const [was = '', is = ''] = stock.split(' ').map(held);
      const states = seen.lines.map(({ stock_state }: Json) => stock_state);
      assert.deepEqual([seen.status, ...states], [to, is, 'NONE'], what);
      assert.deepEqual(await moved(movements), movementOf[`${was} ${is}`] ?? [], what);

      const told = (await eventsAbout(dealer, card.id)).slice(events);
      // The same again is no news, but that an invoice was raised.
      assert.equal(told.length, from === to && to !== 'INVOICED' ? 0 : 1, what);
      if (from !== to) {
        const { type, data } = told[0]!;
        assert.deepEqual([type, data.object], ['job_card.updated', { ...seen, branch: null, invoice: null }], what);
        assert.deepEqual([data.changed.includes('status'), data.changed.includes('lines')], [true, was !== is], what);
      }

      const since = (await movementsOf(dealer, part)).length;
      if (to === 'CANCELLED') await move('ESTIMATE'); // From there INVOICED can be reached as well.
      await move(from);
      assert.equal(await shelf(dealer, part), before, `${what} and back`);
      assert.deepEqual(await moved(since), movementOf[`${is} ${was}`] ?? [], `${what} and back`);
    }
    const causes = (await movementsOf(dealer, part)).slice(1).map(({ cause_id, cause_line_id }) => [cause_id, cause_line_id]);
    assert.ok(causes.every(([cardId, lineId]) => cardId === card.id && lineId === card.lines[0].id));
    assert.equal(await shelf(dealer, other), '10/0', 'what nobody authorised stays');
  }
});

test('the times of a card follow its status', async () => {
  const dealer = await dealership();
  const { clock } = dealer;
  clock.set('2099-01-01T08:00:00Z');
  const card = await cardWith(dealer);
  const at = async (hour: string, status: string) => {
    clock.set(`2099-01-01T${hour}:00:00Z`);
    const { started_at, completed_at, status_changed_at } = await dealer.api.patch(`/v1/job-cards/${card.id}`, { status }).succeeds();
    return [started_at, completed_at, status_changed_at].map((time) => time?.slice(11, 13) ?? null);
  };
  assert.deepEqual(await at('09', 'CHECKED_IN'), [null, null, '09']);
  assert.deepEqual(await at('10', 'IN_PROGRESS'), ['10', null, '10']);
  assert.deepEqual(await at('11', 'COMPLETED'), ['10', '11', '11']);
  assert.deepEqual(await at('12', 'IN_PROGRESS'), ['10', null, '12']);
  assert.deepEqual(await at('13', 'IN_PROGRESS'), ['10', null, '12']);
  clock.release();
});

// ---- Too few ----

test('what is not there is not reserved, and taken with the next step once it is', async () => {
  const dealer = await dealership();
  const [there, few, missing] = [await partWith(dealer, 2), await partWith(dealer, 1), await partWith(dealer, 0)];
  const card = await cardWith(dealer, [lineOf(there, 2), lineOf(few, 2), lineOf(missing), lineOf(few, 1)], { status: 'BOOKED' });
  const states = async () => (await getJobCard(dealer.ctx, card.id)).lines.map(({ stock_state }) => stock_state);
  assert.deepEqual(await states(), ['RESERVED', 'NONE', 'NONE', 'RESERVED']);
  await receiveParts(dealer.ctx, { lines: [few, missing].map(({ id }) => ({ part_id: id, quantity: 1 })) });
  const path = `/v1/job-cards/${card.id}`;
  const told = (await eventsAbout(dealer, card.id)).length;
  for (const body of [{}, { status: 'BOOKED' }, { concern: 'Oil light' }]) await dealer.api.patch(path, body).succeeds();
  assert.deepEqual(await states(), ['RESERVED', 'NONE', 'NONE', 'RESERVED'], 'neither a delivery nor the same status moves parts');
  assert.equal((await eventsAbout(dealer, card.id)).length, told + 1, 'of the concern');
  const { message } = await dealer.api.patch(path, { status: 'COMPLETED' }).refuses(422, 'request_refused');
  assert.ok(message.includes(few.part_number) && !message.includes(missing.part_number) && !message.includes(there.part_number), message);
  await dealer.api.patch(path, { status: 'AWAITING_PARTS' }).succeeds();
  assert.deepEqual(await states(), ['RESERVED', 'NONE', 'RESERVED', 'RESERVED']);
  await receiveParts(dealer.ctx, { lines: [{ part_id: few.id, quantity: 1 }] });
  await dealer.api.patch(path, { status: 'COMPLETED' }).succeeds();
  assert.deepEqual(await states(), Array(4).fill('ISSUED'));
  assert.deepEqual([await shelf(dealer, few), await shelf(dealer, missing), await shelf(dealer, there)], ['0/0', '0/0', '0/0']);
});

test('of two cards that race for the last part one reserves it, the other’s line stays NONE without an error, and only one completes', async (t) => {
  const dealer = await dealership();
  const servers = await Promise.all([0, 1].map(() => start(t, script('api-process.ts'), { DATABASE_URL: dealer.databaseUrl })));
  const headers = { authorization: `Bearer ${dealer.api.key}`, 'content-type': 'application/json' };
  const patch = async (server: number, id: string, status: string) => {
    const body = JSON.stringify({ status });
    const answer = await fetch(`${servers[server]!.url}/v1/job-cards/${id}`, { method: 'PATCH', headers, body });
    return { status: answer.status, body: (await answer.json()) as Json };
  };
  for (let round = 0; round < 6; round++) {
    const part = await partWith(dealer, 1);
    const cards = [await cardWith(dealer, [lineOf(part)]), await cardWith(dealer, [lineOf(part)])];
    const both = (status: string) => Promise.all(cards.map(({ id }, i) => patch((i + round) % 2, id, status)));

    const booked = await both('BOOKED');
    assert.deepEqual(
      booked.map(({ status }) => status),
      [200, 200],
    );
    const states = booked.map(({ body }) => body.data.lines[0].stock_state);
    assert.deepEqual(states.toSorted(), ['NONE', 'RESERVED']);
    assert.equal(await shelf(dealer, part), '1/1');

    const completed = await both('COMPLETED');
    const winner = states.indexOf('RESERVED');
    const loser = completed[1 - winner]!;
    assert.equal(completed[winner]?.body.data.lines[0].stock_state, 'ISSUED');
    assert.deepEqual([loser.status, loser.body.code, loser.body.message.includes(part.part_number)], [422, 'request_refused', true]);
    assert.equal(await shelf(dealer, part), '0/0');
    assert.equal((await patch(0, cards[1 - winner].id, 'AWAITING_PARTS')).status, 200, 'the way out');

    // Without reserving first it is the same.
    const last = await partWith(dealer, 1);
    const others = [await cardWith(dealer, [lineOf(last)]), await cardWith(dealer, [lineOf(last)])];
    const at = await Promise.all(others.map(({ id }, i) => patch(i, id, 'COMPLETED')));
    assert.deepEqual(at.map(({ status }) => status).toSorted(), [200, 422]);
    assert.equal(await shelf(dealer, last), '0/0');
  }
});

// ---- Branches ----

test('when a card moves to another branch its parts are put back at the old one and put by at the new', async () => {
  const dealer = await dealership();
  const [away, part] = [await dealer.newBranch(), await partWith(dealer, 5)];
  await receiveParts(dealer.ctx, { branch_id: away.id, lines: [{ part_id: part.id, quantity: 2 }] });
  const card = await cardWith(dealer, [lineOf(part, 2)], { status: 'BOOKED' });
  const path = `/v1/job-cards/${card.id}`;
  const move = async (body: object) => {
    const { lines } = await dealer.api.patch(path, body).succeeds();
    return [lines[0].stock_state, await shelf(dealer, part), await shelf(dealer, part, away.id)];
  };
  assert.deepEqual(await move({ concern: 'x' }), ['RESERVED', '5/2', '2/0']);
  assert.deepEqual(await move({ branch_id: away.id }), ['RESERVED', '5/0', '2/2']);
  assert.deepEqual(await move({ branch_id: dealer.branch.id, status: 'COMPLETED' }), ['ISSUED', '3/0', '2/0'], 'both in one write');
  assert.deepEqual(await move({ branch_id: away.id }), ['ISSUED', '3/0', '2/0'], 'what is fitted is fitted');
  assert.deepEqual(await move({ status: 'IN_PROGRESS' }), ['RESERVED', '5/0', '2/2'], 'back to where it came from, then put by here');
  await countParts(dealer.ctx, { lines: [{ part_id: part.id, on_hand: 1 }] });
  assert.deepEqual(await move({ branch_id: dealer.branch.id }), ['NONE', '1/0', '2/0'], 'too few there: no error');
});

// ---- Whatever happens ----

interface Floor {
  readonly dealer: Dealership;
  readonly branches: readonly string[];
  readonly parts: readonly { id: string; part_number: string }[];
  readonly cards: readonly string[];
}

/** One of two cards, branches or parts, one of some lines, how much of it. */
interface Step {
  readonly what: string;
  readonly card: number;
  readonly other: number;
  readonly line: number;
  readonly quantity: number;
  readonly status: JobCardStatus;
}

/** What happens in a workshop. */
const happenings: Record<string, (floor: Floor, step: Step) => Promise<unknown>> = {
  move: (floor, { card, status }) => moveTo(floor, card, status),
  'move on': (floor, { card, status }) => moveTo(floor, card, status),
  'to a branch': ({ dealer, cards, branches }, { card, other }) => updateJobCard(dealer.ctx, cards[card]!, { branch_id: branches[other]! }),
  'add a line': ({ dealer, cards, parts }, { card, other, quantity, line }) =>
    addJobLines(dealer.ctx, cards[card]!, [{ ...lineOf(parts[other]!, quantity), authorised: line > 0 }]),
  'change a line': async (floor, step) =>
    changeJobLine(floor.dealer.ctx, floor.cards[step.card]!, await lineAt(floor, step), { quantity: step.quantity }),
  'decline a line': async (floor, step) =>
    changeJobLine(floor.dealer.ctx, floor.cards[step.card]!, await lineAt(floor, step), { status: 'DECLINED' }),
  'authorise a line': async (floor, step) => authoriseLines(floor.dealer.ctx, floor.cards[step.card]!, [await lineAt(floor, step)]),
  'remove a line': async (floor, step) => removeJobLine(floor.dealer.ctx, floor.cards[step.card]!, await lineAt(floor, step)),
  receive: ({ dealer, branches, parts }, { card, other, quantity }) =>
    receiveParts(dealer.ctx, { branch_id: branches[card]!, lines: [{ part_id: parts[other]!.id, quantity }] }),
  count: ({ dealer, branches, parts }, { card, other, quantity }) =>
    countParts(dealer.ctx, { branch_id: branches[card]!, lines: [{ part_id: parts[other]!.id, on_hand: quantity }] }),
  delete: ({ dealer, cards }, { card }) => deleteJobCard(dealer.ctx, cards[card]!),
};

const steps: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(...Object.keys(happenings)),
  card: fc.nat(1),
  other: fc.nat(1),
  line: fc.nat(3),
  quantity: fc.integer({ min: 1, max: 4_000 }).map((n) => n / 1000),
  status: fc.constantFrom(...jobCardStatuses),
});

async function lineAt({ dealer, cards }: Floor, { card, line }: Step): Promise<string> {
  const { lines } = await getJobCard(dealer.ctx, cards[card]!);
  return lines[line % Math.max(1, lines.length)]?.id ?? cards[card]!;
}

/** INVOICED comes with an invoice, which is credited at once so that the card can go on. */
async function moveTo({ dealer, cards }: Floor, card: number, status: JobCardStatus): Promise<unknown> {
  if (status !== 'INVOICED') return updateJobCard(dealer.ctx, cards[card]!, { status });
  const invoiceId = await invoiceFor(dealer, cards[card]!, 'ISSUED');
  try {
    return await markInvoiced(dealer.ctx, cards[card]!);
  } finally {
    await setInvoice(dealer, invoiceId, 'CREDITED');
  }
}

const thousandths = (quantity: number): number => Math.round(quantity * 1000);

test('after any sequence of moves stock on hand and reserved are the sums of the movements, and every movement names its cause', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 30 }), async (sequence) => {
      const dealer = await dealership();
      const branches = [dealer.branch.id, (await dealer.newBranch()).id];
      const parts = [await partWith(dealer, 6), await partWith(dealer, 2)];
      const cards: string[] = [];
      for (const part of parts) cards.push((await cardWith(dealer, [lineOf(part, 1.5)], { status: 'BOOKED' })).id);
      const known = new Set<string>();
      await checkBooks(dealer, cards, known);
      for (const step of sequence) {
        const taken = happenings[step.what]!({ dealer, branches, parts, cards }, step);
        await taken.catch((error: unknown) => assert.ok(error instanceof Refusal, String(error)));
        await checkBooks(dealer, cards, known);
      }
    }),
    { numRuns: 12 },
  );
});

/** `known` are the lines there have ever been. */
async function checkBooks({ service, id }: Dealership, cards: readonly string[], known: Set<string>): Promise<void> {
  const query = async (text: string): Promise<Json[]> => (await service.pools.doors.query(text, [id])).rows;
  const movements = await movementsOf({ service, id } as Dealership);
  const stock = await query('select * from part_stock where dealer_id = $1');
  const sum = (field: 'on_hand' | 'reserved', where: (movement: (typeof movements)[number]) => boolean) =>
    movements.filter(where).reduce((total, movement) => total + thousandths(movement[field]), 0);

  for (const { branch_id, part_id, on_hand, reserved } of stock) {
    const here = (movement: (typeof movements)[number]) => movement.branch_id === branch_id && movement.part_id === part_id;
    assert.deepEqual([sum('on_hand', here), sum('reserved', here)], [thousandths(on_hand), thousandths(reserved)]);
    assert.ok(reserved >= 0 && on_hand >= reserved);
  }
  assert.ok(movements.every(({ branch_id, part_id }) => stock.some((one) => one.branch_id === branch_id && one.part_id === part_id)));

  const lines = await query('select * from job_card_line where dealer_id = $1');
  for (const line of lines) known.add(line.id);
  for (const { cause_kind, cause_id, cause_line_id } of movements) {
    assert.ok(cause_id !== null);
    if (cause_kind === 'job_card') assert.ok(cards.includes(cause_id) && known.has(cause_line_id ?? ''));
  }
  // What a line has is what was moved for it, and what is gone has nothing.
  for (const lineId of known) {
    const line = lines.find((one) => one.id === lineId);
    const quantity = thousandths(line?.quantity ?? 0);
    const its = (movement: (typeof movements)[number]) => movement.cause_line_id === lineId;
    assert.equal(sum('on_hand', its) || 0, line?.stock_state === 'ISSUED' ? -quantity : 0);
    assert.equal(sum('reserved', its), line?.stock_state === 'RESERVED' ? quantity : 0);
  }
}
