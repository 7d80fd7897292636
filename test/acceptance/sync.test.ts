import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteAppointment } from '#modules/appointments/index.ts';
import { cancelByCredit, deleteDeal, deliverDeal, receivePartExchange, sellDeal } from '#modules/deals/index.ts';
import { creditInvoice, raiseDepositInvoice, raiseSalesInvoice, raiseWorkshopInvoice, recordPayment } from '#modules/invoices/index.ts';
import { addJobLines, deleteJobCard } from '#modules/job-cards/index.ts';
import type { Context } from '#platform/context.ts';
import type { Scope } from '#platform/contract.ts';
import type { Api } from '../support/api.ts';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';

const writers = 16;
const writesEach = 125;

/** What a client that follows the list believes: id → when it changed, or that it is gone. */
type Copy = Map<string, string>;

/** Follows a list page by page, by `resume_cursor`, until told that the writing has ended and nothing is left. */
async function follow(api: Api, ended: () => boolean): Promise<Copy> {
  const copy: Copy = new Map();
  let cursor = '';
  for (;;) {
    const last = ended();
    const { body } = await api.get(`/v1/vehicles?include_deleted=true&limit=20${cursor && `&cursor=${cursor}`}`);
    for (const item of body.data) copy.set(item.id, item.deleted ? 'gone' : item.internal_notes);
    cursor = body.meta.resume_cursor;
    if (last && !body.meta.has_more) return copy;
  }
}

/** The same, as a client that keeps no cursor but the latest `updated_at` it saw. */
async function followByTime(api: Api, ended: () => boolean): Promise<Copy> {
  const copy: Copy = new Map();
  let since = '2000-01-01T00:00:00Z';
  for (;;) {
    const last = ended();
    let newest = since;
    for (let cursor = '', more = true; more; ) {
      const { body } = await api.get(`/v1/vehicles?include_deleted=true&limit=100&updated_since=${since}${cursor && `&cursor=${cursor}`}`);
      for (const item of body.data) {
        copy.set(item.id, item.deleted ? 'gone' : item.internal_notes);
        const at = item.deleted_at ?? item.updated_at;
        if (at > newest) newest = at;
      }
      cursor = body.meta.next_cursor;
      more = body.meta.has_more;
    }
    since = newest;
    if (last) return copy;
  }
}

/** The state of the database. */
async function truth({ service, id }: Dealership): Promise<Copy> {
  const { rows } = await service.pools.doors.query('select id, deleted_at, internal_notes from vehicle where dealer_id = $1', [id]);
  return new Map(rows.map((row) => [row.id, row.deleted_at ? 'gone' : row.internal_notes]));
}

async function whileWriting(
  write: (writer: number) => Promise<void>,
  readers: ((ended: () => boolean) => Promise<Copy>)[],
): Promise<Copy[]> {
  let ended = false;
  const reading = Promise.all(readers.map((read) => read(() => ended)));
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))).finally(() => {
    ended = true;
  });
  return reading;
}

test('while 16 writers change, create and delete, a reader that follows the list ends with exactly the database’s state', async () => {
  const home = await dealership();
  const { api } = home;
  const ids: string[] = [];
  const write = async (writer: number) => {
    for (let n = 0; n < writesEach; n++) {
      const note = `writer ${writer}, write ${n}`;
      const chosen = (n * 7 + writer) % 10;
      const id = ids[Math.floor((n * 31 + writer * 17) % Math.max(1, ids.length))];
      if (chosen < 3 || !id) {
        ids.push((await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Ka', internal_notes: note }).succeeds(201)).id);
      } else if (chosen < 9) {
        await api.patch(`/v1/vehicles/${id}`, { internal_notes: note });
      } else {
        await api.delete(`/v1/vehicles/${id}`);
      }
    }
  };
  const [byCursor, byTime] = await whileWriting(write, [(ended) => follow(api, ended), (ended) => followByTime(api, ended)]);
  const state = await truth(home);
  assert.ok(state.size > (writers * writesEach) / 4);
  assert.deepEqual(byCursor, state);
  assert.deepEqual(byTime, state);
});

test('the same reader misses changes when writers stamp a time of their own without the dealer’s turn', async () => {
  const home = await dealership();
  const { api, service, id: dealerId } = home;
  const ids: string[] = [];
  for (let i = 0; i < 48; i++)
    ids.push((await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Ka' }).succeeds(201)).id);
  const write = async (writer: number) => {
    for (let n = 0; n < 12; n++) {
      const id = ids[(n * writers + writer) % ids.length];
      const connection = await service.pools.work.connect();
      try {
        await connection.query(`begin; select set_config('forecourt.dealer_id', '${dealerId}', true)`);
        await connection.query('update vehicle set internal_notes = $3, updated_at = clock_timestamp() where dealer_id = $1 and id = $2', [
          dealerId,
          id,
          `writer ${writer}, write ${n}`,
        ]);
        await connection.query('select pg_sleep(random() * 0.02)');
        await connection.query('commit');
      } finally {
        connection.release();
      }
    }
  };
  const [copy] = await whileWriting(write, [(ended) => follow(api, ended)]);
  const state = await truth(home);
  const missed = [...state].filter(([id, note]) => copy?.get(id) !== note);
  assert.ok(missed.length > 0, 'the test above could not fail');
});

test('the changes of one dealer become visible in the order of their times', async () => {
  const { service, id, api } = await dealership();
  await Promise.all(
    Array.from({ length: 60 }, (_, i) => api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: `Ka ${i}` }).succeeds(201)),
  );
  const { rows } = await service.pools.doors.query(
    'select sequence, created_at from event where dealer_id = $1 order by created_at, sequence',
    [id],
  );
  assert.deepEqual(
    rows.map((row) => row.sequence),
    Array.from({ length: 60 }, (_, i) => i + 1),
  );
  assert.equal(new Set(rows.map((row) => row.created_at)).size, 60);
});

/** The lists a client keeps a copy of, and the one scope its key has for each: what is shown of records of other families is theirs to keep. */
const lists = {
  vehicles: 'vehicles:read',
  enquiries: 'enquiries:read',
  customers: 'customers:read',
  deals: 'sales:read',
  appointments: 'appointments:read',
  'job-cards': 'workshop:read',
  invoices: 'sales:read',
  'stock-book': 'vehicles:costs',
} as const satisfies Record<string, Scope>;

test('whatever is shown of a record, a client that follows its list has it as it is, also where another record’s write has changed it', async () => {
  const d = await dealership();
  const { api, ctx } = d;
  const followers = await Promise.all(
    Object.entries(lists).map(async ([list, scope]) => followerOf(await d.apiWith({ scopes: [scope] }), `/v1/${list}?limit=100`)),
  );
  /** Takes a step, and holds what each client has by then against its whole list. */
  const step = async <T>(name: string, work: Promise<T>): Promise<T> => {
    const result = await work;
    for (const { read } of followers) {
      const { copy, truth } = await read();
      assert.deepEqual(copy, truth, name);
    }
    return result;
  };
  const create = (path: string, body: object) => step(path, api.post(path, body).succeeds(201));
  const change = (path: string, body: object) => step(`${path} ${JSON.stringify(body)}`, api.patch(path, body).succeeds());
  const pay = async (name: string, id: string) => {
    const { totals } = await api.get(`/v1/invoices/${id}`).succeeds();
    return step(name, recordPayment(ctx, id, { method: 'CARD', amount: Math.abs(totals.outstanding.amount) }));
  };

  const about = { condition: 'USED', make: 'Ford', model: 'Focus', status: 'FOR_SALE', asking_price: 1_000_000, vat_scheme: 'MARGIN' };
  const vehicle = await create('/v1/vehicles', { ...about, costs: { purchase_price: 800_000 } });
  const contact = { last_name: 'Ash', email: 'ash@customer.example' };
  const { id: enquiryId, customer_id } = await create('/v1/enquiries', { contact });
  const other = await create('/v1/enquiries', { customer_id });
  await change(`/v1/enquiries/${enquiryId}`, { status: 'CONTACTED' });
  const away = await step('a branch', d.newBranch());
  await change(`/v1/enquiries/${other.id}`, { branch_id: away.id });

  const booking = { type: 'SERVICE', starts_at: '2031-05-01T09:00:00Z', customer_id };
  const viewing = await create('/v1/appointments', { ...booking, enquiry_id: enquiryId });
  const drive = await create('/v1/appointments', { ...booking, enquiry_id: enquiryId });
  await change(`/v1/appointments/${drive.id}`, { starts_at: '2031-04-30T09:00:00Z' });
  await change(`/v1/appointments/${drive.id}`, { enquiry_id: other.id });
  await change(`/v1/appointments/${drive.id}`, { enquiry_id: null });
  await step('an appointment is deleted', deleteAppointment(ctx, viewing.id));

  const quote = { enquiry_id: enquiryId, vehicle_id: vehicle.id, vehicle_price: 1_000_000 };
  const deal = await create('/v1/deals', quote);
  const second = await create('/v1/deals', quote);
  const path = `/v1/deals/${deal.id}`;
  await change(path, { status: 'RESERVED' });
  await change(`/v1/deals/${second.id}`, { enquiry_id: other.id });
  await step('a deal is deleted', deleteDeal(ctx, second.id));
  await pay('a deposit is paid', (await step('a deposit', raiseDepositInvoice(ctx, deal.id, { amount: 10_000 }))).id);
  await change(path, { status: 'ORDERED' });
  const sale = await step('a sale', raiseSalesInvoice(ctx, deal.id));
  await change(path, { type: 'TRADE' });
  await pay('a sale is paid', sale.id);
  await step('a delivery', deliverDeal(ctx, deal.id));
  await pay('money is given back', (await step('a credit note', creditInvoice(ctx, sale.id))).id);

  const card = await create('/v1/job-cards', {
    appointment_id: drive.id,
    customer_id,
    customer_vehicle: { make: 'Ford' },
    status: 'BOOKED',
  });
  const spare = await create('/v1/job-cards', { appointment_id: drive.id, customer_id, customer_vehicle: { make: 'Ford' } });
  await step('a job card is deleted', deleteJobCard(ctx, spare.id));
  await step('lines', addJobLines(ctx, card.id, [{ kind: 'LABOUR', description: 'Service', unit_price: 5_000, authorised: true }]));
  const bill = await step('a workshop invoice', raiseWorkshopInvoice(ctx, card.id));
  await pay('a workshop invoice is paid', bill.id);
  await step('and credited', creditInvoice(ctx, bill.id));
  await step('an enquiry is deleted', api.delete(`/v1/enquiries/${other.id}`).succeeds());
});

/** A client of a list: what it has after reading on from where it was, and the list read anew. */
async function followerOf(api: Api, list: string) {
  const copy = new Map<string, object>();
  let cursor = '';
  const path = list.includes('invoices') || list.includes('stock-book') ? list : `${list}&include_deleted=true`;
  const read = async () => {
    const { body } = await api.get(`${path}${cursor && `&cursor=${cursor}`}`);
    for (const item of body.data) copy.set(item.id, own(item));
    cursor = body.meta.resume_cursor;
    const truth: { id: string }[] = await api.get(path).succeeds();
    return { copy, truth: new Map(truth.map((item) => [item.id, own(item)])) };
  };
  await read();
  return { read };
}

/** Without the deal an invoice shows: its scope is that of invoices, but it has a list of its own. */
const own = ({ deal: _deal, ...item }: { id: string; deal?: unknown }): object => item;

test('a turn that is not had within 5 seconds is refused, as stock_busy where vehicles or parts may be written; that is never stored', async () => {
  const { service, id, api, ctx } = await dealership();
  const deal = await api.post('/v1/deals', {}).succeeds(201);
  const holder = await service.pools.work.connect();
  const car = { condition: 'USED', make: 'Ford', model: 'Ka' };
  try {
    await holder.query(`begin; select set_config('forecourt.dealer_id', '${id}', true)`);
    const { rowCount } = await holder.query('select from dealer_clock where dealer_id = $1 for update', [id]);
    assert.equal(rowCount, 1);
    // Three wait for the turn, the others for a place in the line; the last one would call out first.
    const bodies = [car, car, car, car, { condition: 'USED', registration: 'AB12CDE' }];
    const answers = Promise.all(
      bodies.map((body, at) => api.post('/v1/vehicles', body, { 'idempotency-key': at === 0 ? 'busy' : `busy-${at}` })),
    );
    const selling = [
      api.post('/v1/deals', { status: 'RESERVED' }, { 'idempotency-key': 'deal' }),
      api.patch(`/v1/deals/${deal.id}`, { status: 'RESERVED' }),
    ];
    const staff = [sellDeal, deliverDeal, cancelByCredit, (ctx: Context, id: string) => receivePartExchange(ctx, id, id), deleteDeal];
    const refused = Promise.all(staff.map((command) => command(ctx, deal.id).catch(({ code }: { code: string }) => code)));
    for (const { status, body, headers } of [...(await answers), ...(await Promise.all(selling))]) {
      assert.deepEqual([status, body.code, headers['retry-after']], [409, 'stock_busy', '5']);
    }
    // What is deleted holds no car.
    assert.deepEqual(await refused, [...Array.from({ length: 4 }, () => 'stock_busy'), 'service_unavailable']);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  const retried = await api.post('/v1/vehicles', car, { 'idempotency-key': 'busy' });
  assert.equal(retried.status, 201);
  assert.equal(retried.headers['idempotent-replayed'], undefined);
});

test('the queued writes of one dealer keep no other dealer waiting, neither reads nor writes', async () => {
  const [busy, other] = [await dealership(), await dealership()];
  const car = { condition: 'USED', make: 'Ford', model: 'Ka' };
  const holder = await busy.service.pools.doors.connect();
  await holder.query('begin');
  await holder.query('select from dealer_clock where dealer_id = $1 for update', [busy.id]);
  const queued = Array.from({ length: 40 }, () => busy.api.post('/v1/vehicles', car));
  // Were they to wait for the same connections, these would come after the queue, and the queue waits for what follows them.
  for (let i = 0; i < 5; i++) {
    await other.api.post('/v1/vehicles', car).succeeds(201);
    await other.api.get('/v1/vehicles').succeeds();
  }
  await holder.query('rollback');
  holder.release();
  const statuses = (await Promise.all(queued)).map(({ status }) => status);
  assert.ok(
    statuses.every((status) => status === 201 || status === 409),
    statuses.join(),
  );
  assert.ok(statuses.includes(201));
});
