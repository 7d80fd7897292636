import assert from 'node:assert/strict';
import { test } from 'node:test';
import { creditInvoice, raiseSalesInvoice, raiseWorkshopInvoice, recordPayment } from '#modules/invoices/index.ts';
import { addJobLines } from '#modules/job-cards/index.ts';
import type { Api } from '../support/api.ts';
import { dealership } from '../support/dealership.ts';

const car = { condition: 'USED', make: 'Ford', model: 'Ka' };
const person = { first_name: 'Kim', last_name: 'Ash', email: 'kim.ash@customer.example', mobile: '07700 900123' };

interface Event {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly request_id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: an object of whatever type
  readonly data: { readonly object: any; readonly changed?: string[]; readonly previous_status?: string };
}

/** Follows the events by `resume_cursor` until told that the writing has ended and nothing is left. */
async function follow(api: Api, limit: number, ended: () => boolean): Promise<Event[]> {
  const seen: Event[] = [];
  for (let cursor = ''; ; ) {
    const last = ended();
    const { body } = await api.get(`/v1/events?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    seen.push(...body.data);
    cursor = body.meta.resume_cursor;
    if (last && !body.meta.has_more) return seen;
  }
}

/** The same by time alone, as a client that keeps no cursor; it knows an event again by its id. */
async function followByTime(api: Api, ended: () => boolean): Promise<Event[]> {
  const seen = new Map<string, Event & { created_at: string }>();
  for (let since = '2000-01-01T00:00:00Z'; ; ) {
    const last = ended();
    for (let cursor = '', more = true; more; ) {
      const { body } = await api.get(`/v1/events?limit=100&created_since=${since}${cursor && `&cursor=${cursor}`}`);
      for (const event of body.data) seen.set(event.id, event);
      cursor = body.meta.next_cursor;
      more = body.meta.has_more;
    }
    since = [...seen.values()].at(-1)?.created_at ?? since;
    if (last) return [...seen.values()];
  }
}

test('while 16 writers write, readers that follow the events see each of them once, in the order of commits, without a gap', async () => {
  const { api, apiWith, service, id: dealerId } = await dealership();
  const customersOnly = await apiWith({ scopes: ['events:read', 'customers:read'] });
  const [writers, writesEach] = [16, 40];
  const write = async (writer: number) => {
    let known: string | undefined;
    for (let n = 0; n < writesEach; n++) {
      if ((n + writer) % 3 === 0) await api.post('/v1/customers', { ...person, account_number: `${writer}-${n}` }).succeeds(201);
      else if (known === undefined) known = (await api.post('/v1/vehicles', { ...car, asking_price: 100 }).succeeds(201)).id;
      // One write, two events.
      else
        await api
          .patch(`/v1/vehicles/${known}`, { status: n % 2 ? 'FOR_SALE' : 'IN_PREPARATION', internal_notes: `${writer}, ${n}` })
          .succeeds();
    }
  };
  let over = false;
  const ended = () => over;
  const reading = Promise.all([follow(api, 7, ended), follow(api, 100, ended), followByTime(api, ended), follow(customersOnly, 10, ended)]);
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))).finally(() => {
    over = true;
  });
  const [small, large, byTime, ofCustomers] = await reading;
  const { rows } = await service.pools.doors.query(
    "select 'evt_' || id as id, sequence from event where dealer_id = $1 order by sequence",
    [dealerId],
  );
  assert.ok(rows.length > writers * writesEach);
  const numbers = (events: readonly { id: string; sequence: number }[]) => events.map(({ id, sequence }) => ({ id, sequence }));
  for (const seen of [small, large, byTime]) assert.deepEqual(numbers(seen), rows);
  assert.deepEqual(
    small.map(({ sequence }) => sequence),
    small.map((_, at) => at + 1),
  );
  assert.deepEqual(
    ofCustomers,
    small.filter(({ type }) => type.startsWith('customer.')),
  );
});

test('the object of an event is the single read of a key that has that scope alone; nothing of other families, no costs', async () => {
  const { api, apiWith, owner } = await dealership();
  const costs = { purchase_price: 900_000, purchase_source: 'TRADE' };
  const vehicle = await api
    .post('/v1/vehicles', { ...car, registration: 'AB12CDE', asking_price: 1_000_000, internal_notes: 'Two keys', costs })
    .succeeds(201);
  const enquiry = await api
    .post('/v1/enquiries', {
      contact: person,
      vehicle_id: vehicle.id,
      assigned_to_id: owner.id,
      part_exchange: { registration: 'XY12ZZZ' },
    })
    .succeeds(201);
  await api.post(`/v1/enquiries/${enquiry.id}/notes`, { body: 'Rang back.' }).succeeds(201);
  const named = { customer_id: enquiry.customer_id, enquiry_id: enquiry.id, vehicle_id: vehicle.id };
  const deal = await api
    .post('/v1/deals', {
      ...named,
      vehicle_price: 990_000,
      part_exchanges: [{ registration: 'XY12ZZZ', make: 'Ford', model: 'Ka', stand_in_value: 5 }],
    })
    .succeeds(201);
  await api.patch(`/v1/deals/${deal.id}`, { status: 'RESERVED' }).succeeds();
  const appointment = await api
    .post('/v1/appointments', { ...named, deal_id: deal.id, type: 'VIEWING', starts_at: '2026-06-06T09:00:00Z' })
    .succeeds(201);
  const card = await api
    .post('/v1/job-cards', {
      customer_id: enquiry.customer_id,
      vehicle_id: vehicle.id,
      type: 'INTERNAL',
      internal_notes: 'Quick',
      appointment_id: appointment.id,
    })
    .succeeds(201);

  const events: Event[] = await api.get('/v1/events?limit=100').succeeds();
  for (const [path, scope, id] of [
    ['vehicles', 'vehicles:read', vehicle.id],
    ['enquiries', 'enquiries:read', enquiry.id],
    ['customers', 'customers:read', enquiry.customer_id],
    ['deals', 'sales:read', deal.id],
    ['appointments', 'appointments:read', appointment.id],
    ['job-cards', 'workshop:read', card.id],
  ] as const) {
    const narrow = await apiWith({ scopes: [scope] });
    const read = await narrow.get(`/v1/${path}/${id}`).succeeds();
    const latest = events.findLast(({ data }) => data.object.id === id)?.data.object;
    // What other records make of it moves it no further: it is read by join.
    for (const name of followed) if (name in read) assert.deepEqual([name, name in latest], [name, true]);
    const same = (of: object) => Object.fromEntries(Object.entries(of).filter(([name]) => !followed.includes(name)));
    assert.deepEqual(same(latest), same(read), path);
    const whole = await api.get(`/v1/${path}/${id}`).succeeds();
    assert.notDeepEqual(same(whole), same(latest), `${path}: the whole shows more`);
  }
  const sold = events.find(({ type }) => type === 'vehicle.created')?.data.object;
  assert.deepEqual([sold.costs, sold.branch, sold.internal_notes], [null, null, 'Two keys']);
  const asked = events.find(({ type }) => type === 'enquiry.created')?.data.object;
  assert.deepEqual([asked.customer, asked.vehicle, asked.assigned_to.id], [null, null, owner.id]);
});

/** What is counted or named by join when read, and the time at which that last changed (decision 013). */
const followed = [
  'updated_at',
  'enquiry_count',
  'deal_count',
  'last_contacted_at',
  'deal_id',
  'appointment_ids',
  'job_card_id',
  'owned_vehicles',
];

test('each change is told by its types, in their order, with what changed and the status before; the events of one write share its request', async () => {
  const { api, ctx } = await dealership();
  let seen = 0;
  /** What a write told, as `type of whom: changed, status before`. */
  const told = async (write: Promise<{ headers: Record<string, string>; status: number; body: unknown }> | Promise<unknown>) => {
    const answer = (await write) as { headers?: Record<string, string>; status?: number };
    assert.ok((answer?.status ?? 200) < 300, JSON.stringify(answer));
    const events: Event[] = (await api.get('/v1/events?limit=100').succeeds()).slice(seen);
    seen += events.length;
    for (const { request_id } of events) if (answer?.headers) assert.equal(request_id, answer.headers['x-request-id']);
    return events.map(({ type, data: { changed, previous_status } }) =>
      [type, ...(changed ? [changed.join()] : []), ...(previous_status ? [previous_status] : [])].join(' '),
    );
  };
  const made = async (path: string, body: unknown) => {
    const answer = await api.post(path, body);
    return { told: await told(Promise.resolve(answer)), id: answer.body.data.id as string, data: answer.body.data };
  };

  // Vehicles.
  const vehicle = await made('/v1/vehicles', { ...car, registration: 'AB12CDE', asking_price: 1_000_000, vat_scheme: 'VAT_QUALIFYING' });
  const path = `/v1/vehicles/${vehicle.id}`;
  assert.deepEqual(vehicle.told, ['vehicle.created']);
  assert.deepEqual(await told(api.patch(path, { colour: 'Red' })), ['vehicle.updated colour']);
  assert.deepEqual(await told(api.patch(path, { colour: 'Red' })), []);
  const [updated, moved, ...more] = await told(api.patch(path, { status: 'FOR_SALE' }));
  assert.match(String(updated), /^vehicle\.updated status\b/);
  assert.match(String(moved), /^vehicle\.status_changed status\b.* IN_PREPARATION$/);
  assert.deepEqual(more, []);
  assert.deepEqual(await told(api.patch(path, { status: 'FOR_SALE' })), []);
  const other = await made('/v1/vehicles', car);
  assert.equal((await told(api.patch(`/v1/vehicles/${other.id}`, { status: 'DISPOSED' }))).length, 2);
  assert.deepEqual(await told(api.delete(`/v1/vehicles/${other.id}`)), ['vehicle.deleted']);

  // Batches.
  assert.deepEqual(await told(api.post('/v1/vehicles/batch?dry_run=true', [car])), []);
  assert.deepEqual(await told(api.post('/v1/vehicles/batch', [{ nothing: 1 }])), ['vehicle_batch.completed']);

  // Enquiries and customers.
  const enquiry = await made('/v1/enquiries', { contact: person, vehicle_id: vehicle.id });
  assert.deepEqual(enquiry.told, ['enquiry.created', 'customer.created']);
  assert.deepEqual(await told(api.patch(`/v1/enquiries/${enquiry.id}`, { message: 'Still there?' })), ['enquiry.updated message']);
  assert.deepEqual(await told(api.post(`/v1/enquiries/${enquiry.id}/notes`, { body: 'Rang back.' })), ['enquiry.updated notes']);
  assert.match(
    (await told(api.patch(`/v1/enquiries/${enquiry.id}`, { part_exchange: { registration: 'XY12ZZZ' } }))).join(),
    /^enquiry\.updated part_exchange$/,
  );
  const lost = await made('/v1/enquiries', { contact: { ...person, email: 'other@customer.example', last_name: 'Oak', mobile: null } });
  assert.match(
    (await told(api.patch(`/v1/enquiries/${lost.id}`, { status: 'LOST', lost_reason: 'OTHER' }))).join(),
    /^enquiry\.updated status\b/,
  );
  assert.deepEqual(await told(api.delete(`/v1/enquiries/${lost.id}`)), ['enquiry.deleted']);
  const customer = await made('/v1/customers', person);
  assert.deepEqual(customer.told, ['customer.created']);
  assert.deepEqual(await told(api.patch(`/v1/customers/${customer.id}`, { title: 'Dr' })), ['customer.updated title']);
  assert.deepEqual(await told(api.delete(`/v1/customers/${customer.id}`)), ['customer.deleted']);

  // Deals: the deal, then the car, then the enquiry.
  const deal = await made('/v1/deals', { enquiry_id: enquiry.id, vehicle_id: vehicle.id, vehicle_price: 990_000 });
  const dealPath = `/v1/deals/${deal.id}`;
  const types = async (write: Parameters<typeof told>[0]) => (await told(write)).map((one) => one.split(' ')[0]);
  const withCar = ['deal.status_changed', 'vehicle.updated', 'vehicle.status_changed'];
  assert.deepEqual(deal.told, ['deal.created']);
  assert.deepEqual(await told(api.patch(dealPath, { discount: 1 })), []);
  assert.deepEqual(await types(api.patch(dealPath, { status: 'ORDERED' })), withCar);
  const sale = await raiseSalesInvoice(ctx, deal.id);
  assert.deepEqual(await types(Promise.resolve(null)), [...withCar, 'enquiry.updated']);
  await creditInvoice(ctx, sale.id);
  assert.deepEqual(await types(Promise.resolve(null)), [...withCar, 'enquiry.updated']);

  // Appointments: cancelled instead of updated, and once.
  const visit = { customer_id: enquiry.data.customer_id, type: 'VIEWING', starts_at: '2026-06-06T09:00:00Z' };
  const appointment = await made('/v1/appointments', visit);
  const appointmentPath = `/v1/appointments/${appointment.id}`;
  assert.deepEqual(appointment.told, ['appointment.created']);
  assert.deepEqual(await told(api.patch(appointmentPath, { status: 'ARRIVED' })), ['appointment.updated status']);
  assert.deepEqual(await told(api.patch(appointmentPath, { notes: 'Early' })), ['appointment.updated notes']);
  assert.deepEqual(await types(api.post(`${appointmentPath}/cancel`, {})), ['appointment.cancelled']);
  assert.deepEqual(await told(api.post(`${appointmentPath}/cancel`, {})), []);

  // Job cards: lines, the invoice and its payment too.
  const card = await made('/v1/job-cards', { customer_id: enquiry.data.customer_id, customer_vehicle: { registration: 'AB12CDE' } });
  assert.deepEqual(card.told, ['job_card.created']);
  assert.match((await told(api.patch(`/v1/job-cards/${card.id}`, { status: 'IN_PROGRESS' }))).join(), /^job_card\.updated status\b/);
  assert.deepEqual(await told(api.patch(`/v1/job-cards/${card.id}`, { status: 'IN_PROGRESS' })), []);
  await addJobLines(ctx, card.id, [{ kind: 'LABOUR', description: 'Service', hours: 1, unit_price: 8_500, authorised: true }]);
  assert.match((await told(Promise.resolve(null))).join(), /^job_card\.updated lines\b/);
  const bill = await raiseWorkshopInvoice(ctx, card.id);
  assert.match((await told(Promise.resolve(null))).join(), /^job_card\.updated .*invoice_id/);
  await recordPayment(ctx, bill.id, { method: 'CASH', amount: bill.totals.outstanding.amount });
  assert.match((await told(Promise.resolve(null))).join(), /^job_card\.updated .*is_paid/);
});
