import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { noteOwnedVehicle } from '#modules/customers/index.ts';
import { arrangeList } from '#modules/reference/index.ts';
import { setUser } from '#modules/staff/index.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { cardWith, focus, invoiceFor, lineOf, movementsOf, partWith, setInvoice, shelf } from '../../../test/support/workshop.ts';
import { jobCardStatuses } from './contract.ts';
import { addJobLines, deleteJobCard, markInvoiced } from './index.ts';

const nobody = '00000000-0000-4000-8000-000000000000';
const kim = { first_name: 'Kim', last_name: 'Ash', email: 'kim.ash@customer.example' };
const car = { condition: 'USED', make: 'Ford', model: 'Focus' };
const body = { customer_vehicle: focus };

type Json = ReturnType<typeof JSON.parse>;

const eventsOf = async ({ service, id }: Dealership): Promise<{ type: string; request: string; data: Json }[]> => {
  const { rows } = await service.pools.doors.query('select type, request_id, data from event where dealer_id = $1 order by sequence', [id]);
  return rows.map(({ type, request_id, data }) => ({ type, request: request_id, data: JSON.parse(data) }));
};

const typesOf = async (dealer: Dealership) =>
  (await eventsOf(dealer)).map(({ type }) => type).filter((type) => type.startsWith('job_card.'));

test('a job card is opened, read and changed', async () => {
  const dealer = await dealership();
  const { api, owner, newUser } = dealer;
  const technician = await newUser();
  const customer = await api.post('/v1/customers', kim).succeeds(201);
  const created = await api.post('/v1/job-cards', {
    external_id: 'j-1',
    status: 'BOOKED',
    customer_id: customer.id,
    customer_vehicle: { registration: 'ab12 cde', vin: 'wf0axxgcda1234567', make: 'Ford', model: 'Focus' },
    advisor_id: owner.id,
    technician_ids: [technician.id, technician.id],
    mileage_in: 61_200,
    concern: 'Squeals when braking',
    booked_in_at: '2026-05-01T09:30:00.75+01:00',
    promised_at: '2026-05-01T16:00:00Z',
    key_tag: '17',
    transport_option: 'COURTESY_CAR',
    customer_order_number: 'PO 9',
    internal_notes: 'Careful with the wheel nuts',
    metadata: { bay: '2' },
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const card = created.body.data;
  assert.equal(created.headers.location, `/v1/job-cards/${card.id}`);
  assert.deepEqual([card.number, card.type, card.status, card.status_changed_at], [1, 'RETAIL', 'BOOKED', card.created_at]);
  assert.deepEqual(card.branch, { id: dealer.branch.id, name: dealer.branch.name });
  assert.deepEqual(card.customer, { id: customer.id, reference: 'CUS-000001', display_name: 'Kim Ash' });
  assert.deepEqual(card.customer_vehicle, { id: null, registration: 'AB12CDE', vin: 'WF0AXXGCDA1234567', make: 'Ford', model: 'Focus' });
  assert.deepEqual([card.advisor, card.technician_ids], [{ id: owner.id, name: 'A Member' }, [technician.id]]);
  assert.deepEqual([card.booked_in_at, card.promised_at], ['2026-05-01T08:30:00Z', '2026-05-01T16:00:00Z']);
  assert.deepEqual([card.started_at, card.completed_at, card.collected_at, card.lines], [null, null, null, []]);
  assert.deepEqual([card.invoice_id, card.invoice_status, card.is_paid], [null, null, false]);
  assert.deepEqual([card.vehicle_id, card.vehicle, card.appointment_id, card.deal_id], [null, null, null, null]);
  assert.ok(Object.values(card.totals).every((total) => (total as Json).amount === 0 && (total as Json).currency === 'GBP'));
  assert.deepEqual(await api.get(`/v1/job-cards/${card.id}`).succeeds(), card);
  assert.deepEqual(await api.get('/v1/job-cards').succeeds(), [card]);

  const changed = await api
    .patch(`/v1/job-cards/${card.id}`, {
      status: 'IN_PROGRESS',
      advisor_id: null,
      technician_ids: null,
      mileage_out: 61_204,
      diagnosis: 'Worn pads',
      promised_at: null,
      metadata: { bay: null, lift: '1' },
    })
    .succeeds();
  assert.deepEqual(
    [changed.status, changed.status_changed_at, changed.started_at],
    ['IN_PROGRESS', changed.updated_at, changed.updated_at],
  );
  assert.deepEqual([changed.advisor_id, changed.advisor, changed.technician_ids, changed.promised_at], [null, null, [], null]);
  assert.deepEqual([changed.metadata, changed.concern], [{ lift: '1' }, 'Squeals when braking']);
  assert.deepEqual(await api.get(`/v1/job-cards/${card.id}`).succeeds(), changed);

  const events = (await eventsOf(dealer)).slice(1);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['job_card.created', 'job_card.updated'],
  );
  assert.deepEqual(events[0]?.data.object, { ...card, branch: null, customer: null }, 'the single read with workshop:read alone');
  assert.deepEqual(events[1]?.data.changed.toSorted(), [
    'advisor_id',
    'diagnosis',
    'metadata',
    'mileage_out',
    'promised_at',
    'started_at',
    'status',
    'technician_ids',
  ]);
  const { rows } = await dealer.service.pools.doors.query('select action from activity where record_id = $1 order by at', [card.id]);
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['created', 'updated'],
  );
  assert.equal((await api.post('/v1/job-cards', body).succeeds(201)).number, 2);
});

test('only a key with the scope and its owner’s permission reaches job cards', async () => {
  const { api, apiWith, newUser, ctx } = await dealership();
  const { id } = await api.post('/v1/job-cards', body).succeeds(201);
  const member = await newUser();
  const [none, reading, writing, ofMember, publishable] = [
    await apiWith({ scopes: ['vehicles:read', 'sales:read', 'appointments:read'] }),
    await apiWith({ scopes: ['workshop:read'] }),
    await apiWith({ scopes: ['workshop:write'] }),
    await apiWith({ scopes: ['workshop:read', 'workshop:write'], ownerId: member.id }),
    await apiWith({ kind: 'publishable' }),
  ];
  await setUser(ctx, member.email, { without: ['WORKSHOP_VIEW', 'WORKSHOP_EDIT'] });
  const path = `/v1/job-cards/${id}`;
  for (const [ask, allowed] of [
    [(of: typeof api) => of.get('/v1/job-cards'), reading],
    [(of: typeof api) => of.get(path), reading],
    [(of: typeof api) => of.post('/v1/job-cards', body), writing],
    [(of: typeof api) => of.patch(path, { concern: 'x' }), writing],
  ] as const) {
    await ask(api.as(null)).refuses(401, 'missing_api_key');
    await ask(none).refuses(403, 'insufficient_scope');
    await ask(allowed === reading ? writing : reading).refuses(403, 'insufficient_scope');
    await ask(ofMember).refuses(403, 'scope_not_permitted_for_owner');
    await ask(publishable).refuses(403, 'secret_key_required');
    assert.ok((await ask(allowed)).status < 300);
  }
  await api.delete(path).refuses(405, 'method_not_allowed');
});

test('summaries are for keys with the scope of what they sum up; the ids stay', async () => {
  const { api, apiWith } = await dealership();
  const customer = await api.post('/v1/customers', kim).succeeds(201);
  const vehicle = await api.post('/v1/vehicles', car).succeeds(201);
  const { id } = await api.post('/v1/job-cards', { customer_id: customer.id, vehicle_id: vehicle.id }).succeeds(201);
  const whole = await api.get(`/v1/job-cards/${id}`).succeeds();
  assert.deepEqual([whole.customer.display_name, whole.vehicle.make], ['Kim Ash', 'Ford']);
  const seen = await (await apiWith({ scopes: ['workshop:read'] })).get(`/v1/job-cards/${id}`).succeeds();
  assert.deepEqual([seen.customer_id, seen.vehicle_id, seen.branch_id.length], [customer.id, vehicle.id, 36]);
  assert.deepEqual([seen.customer, seen.vehicle, seen.branch], [null, null, null]);
});

test('a job card names the appointment and the deal it comes from, once each is visible to the key', async () => {
  const { api, apiWith, service, id: dealerId, branch, newBranch } = await dealership();
  const away = await newBranch();
  const [appointment_id, deal_id, elsewhere] = [randomUUID(), randomUUID(), randomUUID()];
  const insert = (text: string, id: string, branchId: string) => service.pools.doors.query(text, [dealerId, id, branchId]);
  const appointment = `insert into appointment (dealer_id, id, branch_id, type, status, starts_at, ends_at, location, source, metadata, created_at, updated_at)
    values ($1, $2, $3, 'SERVICE', 'BOOKED', '2099-05-01T08:30Z', '2099-05-01T09:00Z', 'BRANCH', 'API', '{}', now(), now())`;
  await insert(appointment, appointment_id, branch.id);
  await insert(appointment, elsewhere, away.id);
  await insert(
    `insert into deal (dealer_id, id, reference, branch_id, status, status_changed_at, type, extras, part_exchanges, metadata, created_at, updated_at)
     values ($1, $2, 'DEAL-000001', $3, 'SOLD', now(), 'RETAIL', '[]', '[]', '{}', now(), now())`,
    deal_id,
    branch.id,
  );
  const here = await apiWith({ branchIds: [branch.id] });
  const card = await here.post('/v1/job-cards', { ...body, appointment_id, deal_id }).succeeds(201);
  assert.deepEqual(card.appointment, { id: appointment_id, type: 'SERVICE', status: 'BOOKED', starts_at: '2099-05-01T08:30:00Z' });
  assert.deepEqual(card.deal, { id: deal_id, reference: 'DEAL-000001', status: 'SOLD' });
  const seen = await (await apiWith({ scopes: ['workshop:read'] })).get(`/v1/job-cards/${card.id}`).succeeds();
  assert.deepEqual([seen.appointment_id, seen.appointment, seen.deal_id, seen.deal], [appointment_id, null, deal_id, null]);
  const { errors } = await here
    .post('/v1/job-cards', { ...body, appointment_id: elsewhere, deal_id: elsewhere })
    .refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(errors), ['appointment_id', 'deal_id']);
  assert.equal((await api.post('/v1/job-cards', { ...body, appointment_id: elsewhere }).succeeds(201)).appointment.id, elsewhere);
});

test('what is wrong with a job card is said by field', async () => {
  const { api } = await dealership();
  const vehicle = await api.post('/v1/vehicles', car).succeeds(201);
  const fields = async (sent: object) =>
    Object.keys((await api.post('/v1/job-cards', sent).refuses(422, 'validation_failed')).errors).sort();
  assert.deepEqual(await fields({}), ['vehicle_id']);
  assert.deepEqual(await fields({ customer_vehicle: {} }), ['vehicle_id']);
  assert.deepEqual(await fields({ customer_vehicle: focus, vehicle_id: vehicle.id }), ['vehicle_id']);
  assert.deepEqual(await fields({ ...body, status: 'IN_PROGRESS', number: 4, lines: [] }), ['lines', 'number', 'status']);
  assert.deepEqual(await fields({ ...body, type: 'HOBBY', transport_option: 'HORSE', key_tag: 'x'.repeat(21), concern: '' }), [
    'concern',
    'key_tag',
    'transport_option',
    'type',
  ]);
  assert.deepEqual(await fields({ ...body, type: 'X_NEVER', transport_option: 'X_NEVER' }), ['transport_option', 'type']);
  const named = { customer_id: nobody, appointment_id: nobody, deal_id: nobody, advisor_id: nobody, technician_ids: [nobody] };
  assert.deepEqual(await fields({ vehicle_id: nobody, ...named }), [
    'advisor_id',
    'appointment_id',
    'customer_id',
    'deal_id',
    'technician_ids',
    'vehicle_id',
  ]);
  assert.deepEqual(await fields({ ...body, mileage_in: 9, mileage_out: 8 }), ['mileage_out']);
  assert.deepEqual(await fields({ ...body, branch_id: nobody }), ['branch_id']);
  assert.deepEqual(await fields({ customer_vehicle: { id: nobody } }), ['customer_vehicle.id']);

  const { id } = await api.post('/v1/job-cards', { ...body, mileage_in: 9 }).succeeds(201);
  const changing = async (sent: object) =>
    Object.keys((await api.patch(`/v1/job-cards/${id}`, sent).refuses(422, 'validation_failed')).errors).sort();
  assert.deepEqual(await changing({ mileage_out: 8 }), ['mileage_out']);
  assert.deepEqual(await changing({ status: 'PARKED' }), ['status']);
  assert.deepEqual(await changing({ status: null }), ['status']);
  assert.deepEqual(await changing({ customer_id: nobody, type: 'FLEET', vehicle_id: nobody }), ['customer_id', 'type', 'vehicle_id']);
  assert.deepEqual(await changing({ started_at: '2026-01-01T00:00:00Z', is_paid: true }), ['is_paid', 'started_at']);
  assert.deepEqual(await changing({ technician_ids: [nobody] }), ['technician_ids']);
});

test('codes of the dealer’s own are taken once they were made', async () => {
  const { api, ctx } = await dealership();
  for (const [list, code] of [
    ['job-card-types', 'X_CLUB'],
    ['transport-options', 'X_BICYCLE'],
  ] as const) {
    const codes: { code: string }[] = await api.get(`/v1/reference/${list}`).succeeds();
    await arrangeList(ctx, list, [...codes.map(({ code }) => ({ code })), { code, name: 'Own' }]);
  }
  const card = await api.post('/v1/job-cards', { ...body, type: 'X_CLUB', transport_option: 'X_BICYCLE' }).succeeds(201);
  assert.deepEqual([card.type, card.transport_option], ['X_CLUB', 'X_BICYCLE']);
  assert.equal((await api.get('/v1/job-cards?type=X_CLUB').succeeds()).length, 1);
});

test('a car that is known to be the customer’s is named by its id, and brings what it is with it', async () => {
  const { api, ctx } = await dealership();
  const customer = await api.post('/v1/customers', kim).succeeds(201);
  const known = { vin: null, mileage: 10, mot_expires_on: null, next_service_on: null };
  const { owned_vehicles: cars } = await noteOwnedVehicle(ctx, customer.id, { ...focus, ...known });
  const sent = { customer_id: customer.id, customer_vehicle: { id: cars[0]!.id, model: 'Focus ST' } };
  const card = await api.post('/v1/job-cards', sent).succeeds(201);
  assert.deepEqual(card.customer_vehicle, { id: cars[0]!.id, ...focus, vin: null, model: 'Focus ST' });
  const other = await api.post('/v1/customers', kim).succeeds(201);
  const { errors } = await api.post('/v1/job-cards', { ...sent, customer_id: other.id }).refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(errors), ['customer_vehicle.id']);
});

test('a write that changes nothing succeeds, emits nothing and leaves updated_at', async () => {
  const dealer = await dealership();
  const sent = { ...body, status: 'BOOKED', promised_at: '2026-05-01T16:00:00Z', technician_ids: [dealer.owner.id], metadata: { a: 'b' } };
  const card = await dealer.api.post('/v1/job-cards', sent).succeeds(201);
  const { status, branch_id, promised_at, technician_ids, metadata, concern } = card;
  const same = { status, branch_id, promised_at, technician_ids, metadata, concern };
  assert.deepEqual(await dealer.api.patch(`/v1/job-cards/${card.id}`, same).succeeds(), card);
  assert.deepEqual(await dealer.api.patch(`/v1/job-cards/${card.id}`, {}).succeeds(), card);
  assert.deepEqual(await typesOf(dealer), ['job_card.created']);
});

test('an external_id is unique among the living', async () => {
  const { api, ctx } = await dealership();
  const first = await api.post('/v1/job-cards', { ...body, external_id: 'x' }).succeeds(201);
  const second = await api.post('/v1/job-cards', { ...body, external_id: 'y' }).succeeds(201);
  await api.post('/v1/job-cards', { ...body, external_id: 'x' }).refuses(409, 'external_id_taken');
  await api.patch(`/v1/job-cards/${second.id}`, { external_id: 'x' }).refuses(409, 'external_id_taken');
  await deleteJobCard(ctx, first.id);
  await api.patch(`/v1/job-cards/${second.id}`, { external_id: 'x' }).succeeds();
});

test('a job card sent twice with one Idempotency-Key is one job card', async () => {
  const dealer = await dealership();
  const once = { 'idempotency-key': 'card-1' };
  const [a, b] = [await dealer.api.post('/v1/job-cards', body, once), await dealer.api.post('/v1/job-cards', body, once)];
  assert.deepEqual([b.status, b.body.data, b.headers['idempotent-replayed']], [201, a.body.data, 'true']);
  assert.deepEqual(await typesOf(dealer), ['job_card.created']);
});

test('a job card is at a branch the key reaches, and moves where it may', async () => {
  const { api, apiWith, branch, newBranch } = await dealership();
  const [b, c] = [await newBranch(), await newBranch()];
  const [ofB, two] = [await apiWith({ branchIds: [b.id] }), await apiWith({ branchIds: [b.id, c.id] })];
  const card = await ofB.post('/v1/job-cards', body).succeeds(201);
  assert.equal(card.branch_id, b.id);
  assert.deepEqual(Object.keys((await two.post('/v1/job-cards', body).refuses(422, 'validation_failed')).errors), ['branch_id']);
  await two.post('/v1/job-cards', { ...body, branch_id: branch.id }).refuses(403, 'branch_move_not_permitted');
  await ofB.patch(`/v1/job-cards/${card.id}`, { branch_id: c.id }).refuses(403, 'branch_move_not_permitted');
  const moved = await two.patch(`/v1/job-cards/${card.id}`, { branch_id: c.id }).succeeds();
  assert.equal(moved.branch.id, c.id);
  await ofB.get(`/v1/job-cards/${card.id}`).refuses(404, 'not_found');
  await ofB.patch(`/v1/job-cards/${card.id}`, { status: 'BOOKED' }).refuses(404, 'not_found');
  assert.deepEqual(await ofB.get('/v1/job-cards').succeeds(), []);
  assert.equal((await api.get(`/v1/job-cards?branch_id=${c.id}`).succeeds()).length, 1);
});

test('what a job card names must be visible to the key, and staff must work at its branch', async () => {
  const { api, apiWith, branch, newBranch, newUser } = await dealership();
  const stranger = await dealership();
  const away = await newBranch();
  const here = await apiWith({ branchIds: [branch.id] });
  const vehicleOf = async (of: typeof api, branch_id?: string) => (await of.post('/v1/vehicles', { ...car, branch_id }).succeeds(201)).id;
  for (const vehicle_id of [await vehicleOf(api, away.id), await vehicleOf(stranger.api)]) {
    const { errors } = await here.post('/v1/job-cards', { vehicle_id }).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['vehicle_id']);
  }
  const member = await newUser({ branches: [away.id] });
  const card = await here.post('/v1/job-cards', body).succeeds(201);
  for (const advisor_id of [member.id, stranger.owner.id]) {
    const { errors } = await here.patch(`/v1/job-cards/${card.id}`, { advisor_id }).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['advisor_id']);
  }
});

// ---- The invoice ----

/** A card with a fitted part and an invoice. */
async function billed(dealer: Dealership, status: string, paid = 0) {
  const part = await partWith(dealer, 3);
  const card = await cardWith(dealer, [lineOf(part)]);
  await dealer.api.patch(`/v1/job-cards/${card.id}`, { status: 'COMPLETED' }).succeeds();
  const invoiceId = await invoiceFor(dealer, card.id, status, paid);
  await markInvoiced(dealer.ctx, card.id);
  return { part, invoiceId, path: `/v1/job-cards/${card.id}`, card: await dealer.api.get(`/v1/job-cards/${card.id}`).succeeds() };
}

const others = jobCardStatuses.filter((status) => status !== 'INVOICED');

test('a card with a paid invoice keeps its status', async () => {
  const dealer = await dealership();
  const { path, card, part } = await billed(dealer, 'PAID', 1200);
  assert.deepEqual([card.status, card.invoice_status, card.is_paid], ['INVOICED', 'PAID', true]);
  for (const status of others) await dealer.api.patch(path, { status }).refuses(409, 'job_card_paid');
  assert.deepEqual(await dealer.api.get(path).succeeds(), card);
  assert.equal(await shelf(dealer, part), '2/0');
});

test('an invoiced card that is not paid moves once its invoice is credited', async () => {
  const dealer = await dealership();
  const { path, card, part, invoiceId } = await billed(dealer, 'PART_PAID', 100);
  assert.deepEqual([card.invoice_id, card.invoice_status, card.is_paid], [invoiceId, 'PART_PAID', false]);
  for (const status of others) {
    const { message } = await dealer.api.patch(path, { status }).refuses(422, 'request_refused');
    assert.equal(message, 'Credit the invoice first.');
  }
  await setInvoice(dealer, invoiceId, 'CREDITED');
  assert.equal((await dealer.api.patch(path, { status: 'IN_PROGRESS' }).succeeds()).status, 'IN_PROGRESS');
  assert.equal(await shelf(dealer, part), '3/1');
});

test('INVOICED is never written, whatever the state of the card; that is said before anything is looked at', async () => {
  const dealer = await dealership();
  const message = 'INVOICED is set when the invoice is raised in the DMS.';
  for (const { path } of [await billed(dealer, 'PAID', 1200), await billed(dealer, 'ISSUED'), await billed(dealer, 'CREDITED')]) {
    const { errors } = await dealer.api.patch(path, { status: 'INVOICED', concern: 'x' }).refuses(422, 'validation_failed');
    assert.deepEqual(errors, { status: [message] });
  }
  const open = await cardWith(dealer);
  for (const id of [open.id, nobody]) {
    const { errors } = await dealer.api.patch(`/v1/job-cards/${id}`, { status: 'INVOICED' }).refuses(422, 'validation_failed');
    assert.deepEqual(errors, { status: [message] });
  }
  const { errors } = await dealer.api.post('/v1/job-cards', { ...body, status: 'INVOICED' }).refuses(422, 'validation_failed');
  assert.deepEqual(errors, { status: [message] });
});

test('an invoiced card cannot change branch; its other fields can', async () => {
  const dealer = await dealership();
  const away = await dealer.newBranch();
  for (const [status, paid] of [
    ['ISSUED', 0],
    ['PAID', 1200],
  ] as const) {
    const { path, card } = await billed(dealer, status, paid);
    const { errors } = await dealer.api.patch(path, { branch_id: away.id, concern: 'x' }).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['branch_id']);
    assert.deepEqual(await dealer.api.get(path).succeeds(), card);
    assert.equal((await dealer.api.patch(path, { branch_id: card.branch_id, work_done: 'All of it' }).succeeds()).work_done, 'All of it');
  }
  const { path } = await billed(dealer, 'CREDITED');
  assert.equal((await dealer.api.patch(path, { branch_id: away.id }).succeeds()).branch_id, away.id);
});

test('of several things that are wrong the first is said: the record, the move, the state, the rule', async () => {
  const dealer = await dealership();
  const { api, apiWith, branch, newBranch } = dealer;
  const away = await newBranch();
  const here = await apiWith({ branchIds: [branch.id] });
  const elsewhere = await apiWith({ branchIds: [away.id] });
  await api.post('/v1/job-cards', { ...body, external_id: 'taken' }).succeeds(201);
  const { path } = await billed(dealer, 'PAID', 1200);
  const wrong = { branch_id: away.id, status: 'BOOKED', mileage_in: 2, mileage_out: 1 };
  await here.patch(path, { ...wrong, status: 'INVOICED' }).refuses(422, 'validation_failed');
  await elsewhere.patch(path, wrong).refuses(404, 'not_found');
  await here.patch(path, wrong).refuses(403, 'branch_move_not_permitted');
  await api.patch(path, { ...wrong, external_id: 'taken' }).refuses(409, 'external_id_taken');
  await api.patch(path, wrong).refuses(409, 'job_card_paid');
  await api.patch(path, { mileage_in: 2, mileage_out: 1 }).refuses(422, 'validation_failed');
});

test('a body whose status is refused changes nothing', async () => {
  const dealer = await dealership();
  const part = await partWith(dealer, 1);
  const card = await cardWith(dealer, [lineOf(part, 2)], { status: 'BOOKED' });
  const before = await dealer.api.get(`/v1/job-cards/${card.id}`).succeeds();
  const refusal = await dealer.api
    .patch(`/v1/job-cards/${card.id}`, { status: 'COMPLETED', work_done: 'Nearly', branch_id: before.branch_id })
    .refuses(422, 'request_refused');
  assert.match(refusal.message, new RegExp(part.part_number));
  assert.deepEqual(await dealer.api.get(`/v1/job-cards/${card.id}`).succeeds(), before);
  assert.equal((await movementsOf(dealer, part)).length, 1, 'the delivery alone');
  assert.equal((await dealer.api.patch(`/v1/job-cards/${card.id}`, { status: 'AWAITING_PARTS' }).succeeds()).lines[0].stock_state, 'NONE');
});

// ---- The list ----

test('job cards are filtered by what they are, whom and what they are about, and when they are booked in or promised', async () => {
  const dealer = await dealership();
  const { api, owner, newUser, clock } = dealer;
  const [customer, technician] = [await api.post('/v1/customers', kim).succeeds(201), await newUser()];
  const vehicle = await api.post('/v1/vehicles', { ...car, registration: 'XY12ZZZ' }).succeeds(201);
  const a = await api
    .post('/v1/job-cards', {
      external_id: 'a',
      type: 'INTERNAL',
      status: 'BOOKED',
      vehicle_id: vehicle.id,
      advisor_id: owner.id,
      technician_ids: [technician.id, owner.id],
      // A summer evening: the next day has begun by the clock of the dealership.
      booked_in_at: '2026-07-01T23:30:00Z',
      promised_at: '2026-07-03T12:00:00Z',
    })
    .succeeds(201);
  const b = await api.post('/v1/job-cards', { ...body, customer_id: customer.id }).succeeds(201);
  const { card: c } = await billed(dealer, 'PAID', 1200);
  const found = async (query: string) => (await api.get(`/v1/job-cards?${query}`).succeeds()).map(({ id }: { id: string }) => id).sort();
  const answers: [string, string[]][] = [
    ['status=BOOKED', [a.id]],
    ['status=BOOKED,ESTIMATE', [a.id, b.id].sort()],
    ['status=INVOICED', [c.id]],
    ['type=INTERNAL', [a.id]],
    ['type=RETAIL,INTERNAL', [a.id, b.id, c.id].sort()],
    [`customer_id=${customer.id}`, [b.id]],
    [`vehicle_id=${vehicle.id}`, [a.id]],
    ['registration=xy12 zzz', [a.id]],
    ['registration=AB12CDE', [b.id, c.id].sort()],
    ['registration=AB12CDE,XY12ZZZ', [a.id, b.id, c.id].sort()],
    [`advisor_id=${owner.id}`, [a.id]],
    [`technician_id=${technician.id}`, [a.id]],
    [`technician_id=${nobody},${owner.id}`, [a.id]],
    [`number=${b.number}`, [b.id]],
    [`number=${a.number},${c.number}`, [a.id, c.id].sort()],
    ['invoiced=true', [c.id]],
    ['invoiced=false', [a.id, b.id].sort()],
    ['booked_in_from=2026-07-02', [a.id]],
    ['booked_in_to=2026-07-01', []],
    ['booked_in_from=2026-07-01&booked_in_to=2026-07-02', [a.id]],
    ['booked_in_from=2026-07-01T23:30:01Z', []],
    ['promised_from=2026-07-03&promised_to=2026-07-03', [a.id]],
    ['promised_to=2026-07-02', []],
    ['external_id=a', [a.id]],
    ['status=BOOKED&type=RETAIL', []],
  ];
  for (const [query, ids] of answers) assert.deepEqual(await found(query), ids, query);
  for (const [query, field] of [
    ['status=SLEEPING', 'status'],
    ['type=X_NEVER', 'type'],
    ['number=0', 'number'],
    ['booked_in_from=soon', 'booked_in_from'],
    ['invoiced=yes', 'invoiced'],
    ['technician=x', 'technician'],
  ] as const)
    assert.deepEqual(Object.keys((await api.get(`/v1/job-cards?${query}`).refuses(422, 'validation_failed')).errors), [field]);
  await deleteJobCard(dealer.ctx, b.id);
  assert.deepEqual(await found('include_deleted=true&type=INTERNAL'), [a.id, b.id].sort(), 'tombstones pass the filters');
  assert.deepEqual(await found('include_deleted=true&external_id=a'), [a.id]);
  clock.release();
});

test('in the sandbox there are job cards in every status, and parts on the shelves', async () => {
  const { apiWith } = await dealership();
  const api = await apiWith({ environment: 'test' });
  const seeded: Json[] = await api.get('/v1/job-cards?limit=100').succeeds();
  assert.deepEqual([...new Set(seeded.map(({ status }) => status))].sort(), jobCardStatuses.toSorted());
  const parts = seeded.flatMap(({ lines }) => lines).filter(({ kind, authorised }) => kind === 'PART' && authorised);
  assert.deepEqual([...new Set(parts.map(({ stock_state }) => stock_state))].sort(), ['ISSUED', 'NONE', 'RESERVED']);
});

test('a line that is written in the DMS moves updated_at, and is told as a change', async () => {
  const dealer = await dealership();
  const card = await cardWith(dealer);
  await addJobLines(dealer.ctx, card.id, [{ kind: 'LABOUR', description: 'Service', hours: 1.5, unit_price: 8_500 }]);
  const seen = await dealer.api.get(`/v1/job-cards/${card.id}`).succeeds();
  assert.ok(seen.updated_at >= card.updated_at);
  const last = (await eventsOf(dealer)).at(-1);
  assert.deepEqual(
    [last?.type, last?.data.changed, last?.data.object.totals.net],
    ['job_card.updated', ['lines'], { amount: 12_750, currency: 'GBP' }],
  );
});
