import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { deleteJobCard } from '#modules/job-cards/index.ts';
import { findLinks } from '#modules/links/index.ts';
import { arrangeList } from '#modules/reference/index.ts';
import { setUser } from '#modules/staff/index.ts';
import type { Api } from '../../../test/support/api.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import type { AppointmentStatus } from './contract.ts';
import { appointmentStatuses } from './contract.ts';
import { deleteAppointment } from './index.ts';

const nobody = '00000000-0000-4000-8000-000000000000';
const kim = { first_name: 'Kim', last_name: 'Ash', email: 'kim.ash@customer.example', mobile: '07700 900123' };
const car = { condition: 'USED', make: 'Ford', model: 'Focus' };
const visit = { type: 'VIEWING', starts_at: '2026-05-01T09:00:00Z' };

type Json = ReturnType<typeof JSON.parse>;

const eventsOf = async ({ service, id }: Dealership): Promise<{ type: string; request: string; data: Json }[]> => {
  const { rows } = await service.pools.doors.query(
    "select type, request_id, data from event where dealer_id = $1 and type like 'appointment.%' order by sequence",
    [id],
  );
  return rows.map(({ type, request_id, data }) => ({ type, request: request_id, data: JSON.parse(data) }));
};

const typesOf = async (dealer: Dealership) => (await eventsOf(dealer)).map(({ type }) => type);

const book = async (api: Api, more: object = {}) =>
  (await api.post('/v1/appointments', { ...visit, contact: kim, ...more }).succeeds(201)).id;

/** A record as far as an appointment knows of it. */
async function put({ service, id: dealer_id, branch }: Dealership, table: 'deal' | 'job_card', row: object): Promise<string> {
  const [id, now] = [randomUUID(), new Date().toISOString()];
  const common = {
    dealer_id,
    id,
    branch_id: branch.id,
    type: 'RETAIL',
    status_changed_at: now,
    created_at: now,
    updated_at: now,
    metadata: {},
  };
  const own = { deal: { reference: 'DEAL-000001', extras: [], part_exchanges: [] }, job_card: { number: 7, technician_ids: [] } };
  const whole = { ...common, ...own[table], ...row };
  const columns = Object.keys(whole).join();
  const insert = `insert into ${table} (${columns}) select ${columns} from jsonb_populate_record(null::${table}, $1)`;
  await service.pools.doors.query(insert, [JSON.stringify(whole)]);
  return id;
}

test('an appointment is booked, read, changed and cancelled', async () => {
  const dealer = await dealership();
  const { api, owner } = dealer;
  const customer = await api.post('/v1/customers', kim).succeeds(201);
  const vehicle = await api.post('/v1/vehicles', { ...car, registration: 'AB12CDE' }).succeeds(201);
  const enquiry = await api.post('/v1/enquiries', { customer_id: customer.id }).succeeds(201);
  const dealId = await put(dealer, 'deal', { status: 'QUOTE' });
  const body = {
    external_id: 'a-1',
    type: 'TEST_DRIVE',
    starts_at: '2026-05-02T11:00:00+01:00',
    ends_at: '2026-05-02T11:45:00.900+01:00',
    customer_id: customer.id,
    contact: { ...kim, address: { line1: '1 Station Road', postcode: 'bs14dj' }, preferred_method: 'PHONE' },
    enquiry_id: enquiry.id,
    deal_id: dealId,
    vehicle_id: vehicle.id,
    customer_vehicle: { registration: 'xy 12 zzz', mileage: 64_000 },
    assigned_to_id: owner.id,
    location: 'CUSTOMER_ADDRESS',
    transport_option: 'COURTESY_CAR',
    notes: ' Brings the old car. ',
    metadata: { slot: '7' },
  };
  const created = await api.post('/v1/appointments', body);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const appointment = created.body.data;
  assert.equal(created.headers.location, `/v1/appointments/${appointment.id}`);
  assert.deepEqual([appointment.status, appointment.source, appointment.notes], ['BOOKED', 'API', 'Brings the old car.']);
  assert.deepEqual([appointment.starts_at, appointment.ends_at], ['2026-05-02T10:00:00Z', '2026-05-02T10:45:00Z']);
  assert.deepEqual([appointment.contact.mobile, appointment.contact.address.postcode], ['+447700900123', 'BS1 4DJ']);
  assert.deepEqual(appointment.branch, { id: dealer.branch.id, name: dealer.branch.name });
  assert.deepEqual(appointment.customer, { id: customer.id, reference: 'CUS-000001', display_name: 'Kim Ash' });
  assert.deepEqual(appointment.enquiry, { id: enquiry.id, reference: 'ENQ-000001', status: 'NEW' });
  assert.deepEqual(appointment.deal, { id: dealId, reference: 'DEAL-000001', status: 'QUOTE' });
  assert.deepEqual(appointment.vehicle, { id: vehicle.id, stock_number: '1', registration: 'AB12CDE', make: 'Ford', model: 'Focus' });
  assert.deepEqual(appointment.assigned_to, { id: owner.id, name: 'A Member' });
  assert.deepEqual(appointment.customer_vehicle, { registration: 'XY12ZZZ', make: null, model: null, mileage: 64_000 });
  assert.deepEqual([appointment.job_card_id, appointment.job_card], [null, null]);
  assert.deepEqual([appointment.cancelled_at, appointment.cancellation_reason], [null, null]);
  assert.deepEqual(await api.get(`/v1/appointments/${appointment.id}`).succeeds(), appointment);
  assert.deepEqual(await api.get('/v1/appointments').succeeds(), [appointment]);

  const changed = await api
    .patch(`/v1/appointments/${appointment.id}`, {
      status: 'CONFIRMED',
      contact: { address: null, mobile: null },
      customer_vehicle: { make: 'Ford', mileage: null },
      deal_id: null,
      vehicle_id: null,
      assigned_to_id: null,
      location: 'BRANCH',
      transport_option: null,
      metadata: { slot: null, more: 'x' },
    })
    .succeeds();
  assert.deepEqual([changed.contact.mobile, changed.contact.address, changed.contact.last_name], [null, null, 'Ash']);
  assert.deepEqual(changed.customer_vehicle, { registration: 'XY12ZZZ', make: 'Ford', model: null, mileage: null });
  assert.deepEqual([changed.deal_id, changed.deal, changed.vehicle, changed.assigned_to], [null, null, null, null]);
  assert.deepEqual(changed.metadata, { more: 'x' });
  assert.deepEqual(await api.get(`/v1/appointments/${appointment.id}`).succeeds(), changed);

  const cancelled = await api.post(`/v1/appointments/${appointment.id}/cancel`, { reason: 'Is ill' }).succeeds();
  assert.deepEqual(cancelled, {
    ...changed,
    status: 'CANCELLED',
    cancelled_at: cancelled.updated_at,
    cancellation_reason: 'Is ill',
    updated_at: cancelled.updated_at,
  });
  assert.deepEqual(await api.get(`/v1/appointments/${appointment.id}`).succeeds(), cancelled);

  const events = await eventsOf(dealer);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['appointment.created', 'appointment.updated', 'appointment.cancelled'],
  );
  assert.equal(events[0]?.request, created.headers['x-request-id']);
  const unseen = { branch: null, customer: null, enquiry: null, deal: null, vehicle: null, job_card: null };
  assert.deepEqual(events[0]?.data.object, { ...appointment, ...unseen }, 'the single read with appointments:read alone');
  assert.deepEqual(events[1]?.data.changed.toSorted(), [
    'assigned_to_id',
    'contact',
    'customer_vehicle',
    'deal_id',
    'location',
    'metadata',
    'status',
    'transport_option',
    'vehicle_id',
  ]);
  assert.deepEqual(events[2]?.data.changed.toSorted(), ['cancellation_reason', 'cancelled_at', 'status']);
  assert.deepEqual(events[2]?.data.object, { ...cancelled, ...unseen });
  const { rows } = await dealer.service.pools.doors.query('select action from activity where record_id = $1 order by at', [appointment.id]);
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['created', 'updated', 'updated'],
  );
});

test('only a key with the scope and its owner’s permission reaches appointments', async () => {
  const { api, apiWith, newUser, ctx } = await dealership();
  const path = `/v1/appointments/${await book(api)}`;
  const member = await newUser();
  const [none, reading, writing, ofMember, publishable] = [
    await apiWith({ scopes: ['enquiries:read', 'enquiries:write', 'workshop:read'] }),
    await apiWith({ scopes: ['appointments:read'] }),
    await apiWith({ scopes: ['appointments:write'] }),
    await apiWith({ scopes: ['appointments:read', 'appointments:write'], ownerId: member.id }),
    await apiWith({ kind: 'publishable' }),
  ];
  await setUser(ctx, member.email, { without: ['DIARY_VIEW', 'DIARY_EDIT'] });
  for (const [ask, allowed] of [
    [(of: Api) => of.get('/v1/appointments'), reading],
    [(of: Api) => of.get(path), reading],
    [(of: Api) => of.post('/v1/appointments', { ...visit, contact: kim }), writing],
    [(of: Api) => of.patch(path, { notes: 'x' }), writing],
    [(of: Api) => of.post(`${path}/cancel`), writing],
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
  const dealer = await dealership();
  const { api, apiWith } = dealer;
  const vehicle = await api.post('/v1/vehicles', car).succeeds(201);
  const { id: enquiry_id, customer_id } = await api.post('/v1/enquiries', { contact: kim }).succeeds(201);
  const deal_id = await put(dealer, 'deal', { status: 'QUOTE' });
  const id = await book(api, { customer_id, enquiry_id, deal_id, vehicle_id: vehicle.id });
  const job_card_id = await put(dealer, 'job_card', { status: 'CHECKED_IN', appointment_id: id });
  const all = await api.get(`/v1/appointments/${id}`).succeeds();
  assert.deepEqual(all.job_card, { id: job_card_id, number: 7, status: 'CHECKED_IN' });
  const scopesOf = {
    branch: 'branches:read',
    customer: 'customers:read',
    enquiry: 'enquiries:read',
    deal: 'sales:read',
    vehicle: 'vehicles:read',
    job_card: 'workshop:read',
  };
  const things = Object.keys(scopesOf) as (keyof typeof scopesOf)[];
  for (const shown of [null, ...things]) {
    const scopes = ['appointments:read', ...(shown ? [scopesOf[shown]] : [])];
    const seen = await (await apiWith({ scopes: scopes as never })).get(`/v1/appointments/${id}`).succeeds();
    for (const thing of things) {
      assert.equal(seen[`${thing}_id`], all[`${thing}_id`]);
      assert.deepEqual(seen[thing], thing === shown ? all[thing] : null, thing);
    }
  }
  assert.ok(things.every((thing) => all[thing] !== null));
  await api.delete(`/v1/vehicles/${vehicle.id}`).succeeds();
  const later = await api.get(`/v1/appointments/${id}`).succeeds();
  assert.deepEqual([later.vehicle_id, later.vehicle, later.updated_at], [vehicle.id, null, all.updated_at]);
});

test('what is wrong with an appointment is said by field', async () => {
  const { api } = await dealership();
  const fields = async (body: object) =>
    Object.keys((await api.post('/v1/appointments', body).refuses(422, 'validation_failed')).errors).sort();
  const wrong = (more: object) => fields({ ...visit, contact: kim, ...more });
  assert.deepEqual(await fields({}), ['starts_at', 'type']);
  assert.deepEqual(await fields(visit), ['contact']);
  assert.deepEqual(await fields({ ...visit, customer_id: null }), ['contact']);
  assert.deepEqual(await wrong({ contact: {} }), ['contact']);
  assert.deepEqual(await wrong({ contact: { title: 'Dr' } }), ['contact.email', 'contact.last_name']);
  assert.deepEqual(await wrong({ contact: { ...kim, phone: '12', mobile: 'x' } }), ['contact.mobile', 'contact.phone']);
  assert.deepEqual(await wrong({ contact: { ...kim, surname: 'Ash' }, source: 'PHONE', job_card_id: nobody }), [
    'contact.surname',
    'job_card_id',
    'source',
  ]);
  assert.deepEqual(await wrong({ type: 'LUNCH', location: 'MOON', transport_option: 'SPOON' }), ['location', 'transport_option', 'type']);
  assert.deepEqual(await wrong({ type: 'X_NEVER', transport_option: 'X_NEVER' }), ['transport_option', 'type']);
  assert.deepEqual(await wrong({ type: null, location: null, starts_at: null, status: null }), ['location', 'starts_at', 'status', 'type']);
  assert.deepEqual(await wrong({ starts_at: '2026-05-01', ends_at: '2026-05-01T10:00:00' }), ['ends_at', 'starts_at']);
  assert.deepEqual(await wrong({ starts_at: '1899-12-31T23:59:59Z' }), ['starts_at']);
  assert.deepEqual(await wrong({ ends_at: '3000-01-01T00:00:00Z' }), ['ends_at']);
  assert.deepEqual(await wrong({ ends_at: visit.starts_at }), ['ends_at']);
  assert.deepEqual(await wrong({ status: 'CANCELLED' }), ['status']);
  assert.deepEqual(await wrong({ status: 'NO_SHOW', starts_at: '2999-12-31T23:59:59Z' }), ['status']);
  assert.deepEqual(await wrong({ customer_vehicle: { registration: '!', colour: 'Red' } }), [
    'customer_vehicle.colour',
    'customer_vehicle.registration',
  ]);
  const named = ['customer_id', 'enquiry_id', 'deal_id', 'vehicle_id', 'assigned_to_id'];
  assert.deepEqual(await wrong(Object.fromEntries(named.map((field) => [field, nobody]))), named.sort());
  assert.deepEqual(await wrong({ branch_id: nobody }), ['branch_id']);

  const path = `/v1/appointments/${await book(api)}`;
  const changing = async (body: object) => (await api.patch(path, body).refuses(422, 'validation_failed')).errors;
  assert.deepEqual(Object.keys(await changing({ contact: null })), ['contact']);
  assert.deepEqual(Object.keys(await changing({ contact: { email: null, mobile: null } })), ['contact.email']);
  assert.deepEqual(Object.keys(await changing({ ends_at: '2026-05-01T08:00:00Z' })), ['ends_at']);
  assert.deepEqual((await changing({ status: 'CANCELLED' })).status, ['CANCELLED is set by POST /v1/appointments/{id}/cancel.']);
  assert.match((await changing({ status: 'SLEEPING' })).status[0], /appointment-statuses/);
  const cancelling = async (body: unknown) =>
    Object.keys((await api.post(`${path}/cancel`, body).refuses(422, 'validation_failed')).errors);
  assert.deepEqual(await cancelling({ reason: 'x'.repeat(501) }), ['reason']);
  assert.deepEqual(await cancelling({ why: 'x' }), ['why']);
  assert.deepEqual(await cancelling([]), ['body']);
});

test('it lasts 30 minutes unless it is said, moves whole when only its start is moved, and is as long as usual when its end is cleared', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const path = `/v1/appointments/${await book(api)}`;
  const times = async (change: object) => {
    const { starts_at, ends_at } = await api.patch(path, change).succeeds();
    return [starts_at.slice(11, 16), ends_at.slice(11, 16)];
  };
  assert.deepEqual(await times({}), ['09:00', '09:30']);
  assert.deepEqual(await times({ ends_at: '2026-05-01T10:15:00Z' }), ['09:00', '10:15']);
  assert.deepEqual(await times({ starts_at: '2026-05-01T14:00:00Z' }), ['14:00', '15:15']);
  assert.deepEqual((await eventsOf(dealer)).at(-1)?.data.changed, ['starts_at', 'ends_at']);
  assert.deepEqual(await times({ starts_at: '2026-05-01T13:30:00Z' }), ['13:30', '14:45']);
  assert.deepEqual(await times({ starts_at: '2026-05-01T15:00:00Z', ends_at: '2026-05-01T15:10:00Z' }), ['15:00', '15:10']);
  assert.deepEqual(await times({ ends_at: null }), ['15:00', '15:30']);
  assert.deepEqual(await times({ starts_at: '2026-05-01T16:00:00Z', ends_at: null }), ['16:00', '16:30']);
});

test('codes of the dealer’s own are taken once they were made', async () => {
  const { api, ctx } = await dealership();
  for (const [list, code] of [
    ['appointment-types', 'X_WASH'],
    ['transport-options', 'X_BICYCLE'],
  ] as const) {
    const codes: { code: string }[] = await api.get(`/v1/reference/${list}`).succeeds();
    await arrangeList(ctx, list, [...codes.map(({ code }) => ({ code })), { code, name: 'Own' }]);
  }
  const id = await book(api, { type: 'X_WASH', transport_option: 'X_BICYCLE' });
  const [{ id: found, transport_option }] = await api.get('/v1/appointments?type=X_WASH').succeeds();
  assert.deepEqual([found, transport_option], [id, 'X_BICYCLE']);
});

// ---- Statuses ----

test('every move of every status, with what it answers and what is told of it', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  /** 200: it moves; =: it stays; 409: it is closed; 422: the status is not to be had. */
  const table: Record<AppointmentStatus, Record<AppointmentStatus | 'cancel', '200' | '=' | '409' | '422'>> = {
    BOOKED: { BOOKED: '=', CONFIRMED: '200', ARRIVED: '200', COMPLETED: '200', NO_SHOW: '200', CANCELLED: '422', cancel: '200' },
    CONFIRMED: { BOOKED: '422', CONFIRMED: '=', ARRIVED: '200', COMPLETED: '200', NO_SHOW: '200', CANCELLED: '422', cancel: '200' },
    ARRIVED: { BOOKED: '422', CONFIRMED: '422', ARRIVED: '=', COMPLETED: '200', NO_SHOW: '200', CANCELLED: '422', cancel: '200' },
    COMPLETED: { BOOKED: '409', CONFIRMED: '409', ARRIVED: '409', COMPLETED: '=', NO_SHOW: '409', CANCELLED: '422', cancel: '409' },
    NO_SHOW: { BOOKED: '409', CONFIRMED: '409', ARRIVED: '409', COMPLETED: '409', NO_SHOW: '=', CANCELLED: '422', cancel: '409' },
    CANCELLED: { BOOKED: '409', CONFIRMED: '409', ARRIVED: '409', COMPLETED: '409', NO_SHOW: '409', CANCELLED: '422', cancel: '=' },
  };
  const bookAs = async (status: AppointmentStatus) => {
    const id = await book(api, { starts_at: '2020-05-01T09:00:00Z', ...(status !== 'CANCELLED' && { status }) });
    if (status === 'CANCELLED') await api.post(`/v1/appointments/${id}/cancel`, { reason: 'First' }).succeeds();
    return api.get(`/v1/appointments/${id}`).succeeds();
  };
  for (const from of appointmentStatuses) {
    for (const to of [...appointmentStatuses, 'cancel'] as const) {
      const before = await bookAs(from);
      assert.equal(before.status, from);
      const path = `/v1/appointments/${before.id}`;
      const told = (await typesOf(dealer)).length;
      const answer =
        to === 'cancel' ? await api.post(`${path}/cancel`, { reason: 'Second' }) : await api.patch(path, { status: to, notes: null });
      const after = await api.get(path).succeeds();
      const expected = table[from][to];
      const seen = answer.status === 200 && after.updated_at === before.updated_at && after.status === from ? '=' : String(answer.status);
      assert.equal(seen, expected, `${from} to ${to}: ${JSON.stringify(answer.body)}`);
      if (expected !== '200') assert.deepEqual(after, before);
      if (expected === '200') assert.equal(after.status, to === 'cancel' ? 'CANCELLED' : to);
      if (expected === '409') assert.equal(answer.body.code, 'appointment_closed');
      if (expected === '422') assert.deepEqual(Object.keys(answer.body.errors), ['status']);
      const events = (await typesOf(dealer)).slice(told);
      assert.deepEqual(events, expected !== '200' ? [] : [to === 'cancel' ? 'appointment.cancelled' : 'appointment.updated']);
    }
  }
});

test('an appointment is missed only once it has begun, and nothing of a refused write is kept', async () => {
  const { api, clock } = await dealership();
  clock.set('2099-05-01T08:59:59Z');
  const path = `/v1/appointments/${await book(api, { starts_at: '2099-05-01T09:00:00Z' })}`;
  const missing = { status: 'NO_SHOW', notes: 'Never came' };
  assert.deepEqual(Object.keys((await api.patch(path, missing).refuses(422, 'validation_failed')).errors), ['status']);
  assert.equal((await api.get(path).succeeds()).notes, null);
  await api.patch(path, { ...missing, starts_at: '2099-05-01T09:30:00Z' }).refuses(422, 'validation_failed');
  clock.set('2099-05-01T09:00:00Z');
  assert.equal((await api.patch(path, missing).succeeds()).status, 'NO_SHOW');
  clock.release();
});

test('what is over keeps its time as well; notes, links and metadata are written on', async () => {
  const { api } = await dealership();
  const { id: enquiry_id, customer_id } = await api.post('/v1/enquiries', { contact: kim }).succeeds(201);
  for (const end of ['COMPLETED', 'NO_SHOW', 'CANCELLED']) {
    const path = `/v1/appointments/${await book(api, { starts_at: '2020-05-01T09:00:00Z' })}`;
    if (end === 'CANCELLED') await api.post(`${path}/cancel`).succeeds();
    else await api.patch(path, { status: end }).succeeds();
    await api.patch(path, { starts_at: '2020-05-02T09:00:00Z', notes: 'x' }).refuses(409, 'appointment_closed');
    await api.patch(path, { ends_at: '2020-05-01T09:10:00Z' }).refuses(409, 'appointment_closed');
    const noted = { notes: 'Liked it.', customer_id, enquiry_id, metadata: { done: 'yes' }, external_id: `e-${end}` };
    const after = await api.patch(path, { ...noted, starts_at: '2020-05-01T09:00:00Z' }).succeeds();
    assert.deepEqual([after.status, after.notes, after.enquiry_id, after.external_id], [end, 'Liked it.', enquiry_id, `e-${end}`]);
  }
});

test('it is cancelled with a reason or without a body, once: again is 200, unchanged and not told', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const path = `/v1/appointments/${await book(api)}`;
  const first = await api.post(`${path}/cancel`).succeeds();
  assert.deepEqual([first.status, first.cancelled_at, first.cancellation_reason], ['CANCELLED', first.updated_at, null]);
  for (const body of [undefined, {}, { reason: null }, { reason: 'Changed their mind' }])
    assert.deepEqual(await api.post(`${path}/cancel`, body).succeeds(), first);
  assert.deepEqual(await typesOf(dealer), ['appointment.created', 'appointment.cancelled']);
});

test('of two who cancel at once one is told', async () => {
  const dealer = await dealership();
  const path = `/v1/appointments/${await book(dealer.api)}`;
  const answers = await Promise.all(['A', 'B', 'C'].map((reason) => dealer.api.post(`${path}/cancel`, { reason }).succeeds()));
  const kept = await dealer.api.get(path).succeeds();
  for (const answer of answers) assert.deepEqual(answer, kept);
  assert.deepEqual(await typesOf(dealer), ['appointment.created', 'appointment.cancelled']);
});

// ---- What it names, and where it lies ----

test('what an appointment names must be visible to the key, and what it named before is not asked about again', async () => {
  const dealer = await dealership();
  const { api, apiWith, branch, newBranch, newUser } = dealer;
  const stranger = await dealership();
  const away = await newBranch();
  const here = await apiWith({ branchIds: [branch.id] });
  const member = await newUser({ branches: [away.id] });
  const make = async (of: Api, branch_id?: string) => {
    const { id: enquiry_id, customer_id } = await of
      .post('/v1/enquiries', { contact: { ...kim, last_name: `At ${branch_id}` }, branch_id })
      .succeeds(201);
    const { id: vehicle_id } = await of.post('/v1/vehicles', { ...car, branch_id }).succeeds(201);
    return { enquiry_id, customer_id, vehicle_id };
  };
  const there = {
    ...(await make(api, away.id)),
    deal_id: await put(dealer, 'deal', { status: 'QUOTE', branch_id: away.id }),
    assigned_to_id: member.id,
  };
  const theirs = {
    ...(await make(stranger.api)),
    deal_id: await put(stranger, 'deal', { status: 'QUOTE' }),
    assigned_to_id: stranger.owner.id,
  };
  for (const named of [there, theirs]) {
    const { errors } = await here.post('/v1/appointments', { ...visit, contact: kim, ...named }).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors).sort(), Object.keys(named).sort());
  }
  const { assigned_to_id: _away, ...records } = there;
  const path = `/v1/appointments/${await book(api, records)}`;
  const again = await here.patch(path, { ...records, notes: 'Still coming.' }).succeeds();
  for (const field of Object.keys(records) as (keyof typeof records)[]) {
    assert.equal(again[field], records[field]);
    assert.equal(again[field.replace(/_id$/, '')], null, 'named, and not shown');
  }
  const mine = await make(here);
  const confused = { customer_id: mine.vehicle_id, enquiry_id: mine.vehicle_id, deal_id: mine.vehicle_id, vehicle_id: mine.vehicle_id };
  const { errors } = await here.patch(path, confused).refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(errors), ['customer_id', 'enquiry_id', 'deal_id'], 'the id of something else');
  const changed = await here.patch(path, mine).succeeds();
  assert.deepEqual([changed.enquiry.id, changed.customer.id, changed.vehicle.id], [mine.enquiry_id, mine.customer_id, mine.vehicle_id]);
});

test('an appointment is at a branch the key reaches, and moves where it may', async () => {
  const { api, apiWith, branch, newBranch } = await dealership();
  const [b, c] = [await newBranch(), await newBranch()];
  const [ofB, two] = [await apiWith({ branchIds: [b.id] }), await apiWith({ branchIds: [b.id, c.id] })];
  const id = await book(ofB);
  const ask = { ...visit, contact: kim };
  assert.deepEqual(Object.keys((await two.post('/v1/appointments', ask).refuses(422, 'validation_failed')).errors), ['branch_id']);
  await two.post('/v1/appointments', { ...ask, branch_id: branch.id }).refuses(403, 'branch_move_not_permitted');
  await ofB.patch(`/v1/appointments/${id}`, { branch_id: c.id }).refuses(403, 'branch_move_not_permitted');
  assert.equal((await two.patch(`/v1/appointments/${id}`, { branch_id: c.id }).succeeds()).branch.id, c.id);
  await ofB.get(`/v1/appointments/${id}`).refuses(404, 'not_found');
  await ofB.post(`/v1/appointments/${id}/cancel`).refuses(404, 'not_found');
  assert.deepEqual(await ofB.get('/v1/appointments').succeeds(), []);
  assert.equal((await api.get(`/v1/appointments?branch_id=${c.id}`).succeeds()).length, 1);
});

test('an enquiry names its appointments in the order of the diary, those that were deleted left out', async () => {
  const { api, ctx } = await dealership();
  const { id: enquiry_id, customer_id } = await api.post('/v1/enquiries', { contact: kim }).succeeds(201);
  const at = (day: string) => book(api, { enquiry_id, customer_id, starts_at: `2026-05-${day}T09:00:00Z` });
  const [second, first, gone] = [await at('02'), await at('01'), await at('03')];
  await deleteAppointment(ctx, gone);
  await api.post(`/v1/appointments/${second}/cancel`).succeeds();
  assert.deepEqual((await api.get(`/v1/enquiries/${enquiry_id}`).succeeds()).appointment_ids, [first, second]);
});

test('another record shows an appointment by what it is for, its status and its start', async () => {
  const { api, ctx } = await dealership();
  const id = await book(api);
  const found = await findLinks(ctx, [{ field: 'appointment_id', kind: 'appointment', id }]);
  assert.deepEqual(found.get(id)?.shown, { id, type: 'VIEWING', status: 'BOOKED', starts_at: '2026-05-01T09:00:00Z' });
});

// ---- Writes of all records ----

test('an appointment is deleted in the DMS: a tombstone, and no event', async () => {
  const dealer = await dealership();
  const { api, ctx, service } = dealer;
  const id = await book(api, { external_id: 'x' });
  const told = await typesOf(dealer);
  const tombstone = await deleteAppointment(ctx, id);
  assert.deepEqual(Object.keys(tombstone).sort(), ['deleted', 'deleted_at', 'id']);
  assert.deepEqual(await typesOf(dealer), told);
  const path = `/v1/appointments/${id}`;
  for (const refused of [api.get(path), api.patch(path, { notes: 'x' }), api.post(`${path}/cancel`)])
    await refused.refuses(404, 'not_found');
  await assert.rejects(deleteAppointment(ctx, id), { code: 'not_found' });
  assert.deepEqual(await api.get('/v1/appointments').succeeds(), []);
  assert.deepEqual(await api.get('/v1/appointments?include_deleted=true&status=COMPLETED').succeeds(), [tombstone]);
  await book(api, { external_id: 'x' });
  const { rows } = await service.pools.doors.query('select action from activity where record_id = $1 order by at', [id]);
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['created', 'deleted'],
  );
});

test('one with a job card is not deleted; once that is deleted it can be', async () => {
  const { api, ctx } = await dealership();
  const id = await book(api);
  const card = await api.post('/v1/job-cards', { appointment_id: id, customer_vehicle: { make: 'Ford' } }).succeeds(201);
  await assert.rejects(deleteAppointment(ctx, id), { code: 'request_refused' });
  await deleteJobCard(ctx, card.id);
  await deleteAppointment(ctx, id);
});

test('an appointment shows the newest job card made of it, and is told as changed when that is another', async () => {
  const dealer = await dealership();
  const { api, ctx } = dealer;
  const id = await book(api);
  const open = () => api.post('/v1/job-cards', { appointment_id: id, customer_vehicle: { make: 'Ford' } }).succeeds(201);
  const [older, newer] = [await open(), await open()];
  const shown = async () => (await api.get(`/v1/appointments/${id}`).succeeds()).job_card_id;
  assert.equal(await shown(), newer.id);
  const told = await typesOf(dealer);
  assert.deepEqual(told, ['appointment.created', 'appointment.updated', 'appointment.updated']);
  await deleteJobCard(ctx, older.id);
  assert.deepEqual(await typesOf(dealer), told);
  await deleteJobCard(ctx, newer.id);
  assert.equal(await shown(), null);
  assert.deepEqual(await typesOf(dealer), [...told, 'appointment.updated']);
});

test('a write that changes nothing succeeds, emits nothing and leaves updated_at', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const id = await book(api, { starts_at: '2026-05-01T09:00:00.75Z', customer_vehicle: { make: 'Ford' } });
  const before = await api.get(`/v1/appointments/${id}`).succeeds();
  const { contact, customer_vehicle, starts_at, ends_at, status, type, location, metadata } = before;
  const same = { contact, customer_vehicle, starts_at, ends_at, status, type, location, metadata, notes: null, transport_option: null };
  assert.deepEqual(await api.patch(`/v1/appointments/${id}`, same).succeeds(), before);
  assert.deepEqual(await api.patch(`/v1/appointments/${id}`, { starts_at }).succeeds(), before);
  assert.deepEqual(await typesOf(dealer), ['appointment.created']);
});

test('an external_id is unique among the living', async () => {
  const { api, ctx } = await dealership();
  const [first, second] = [await book(api, { external_id: 'x' }), await book(api, { external_id: 'y' })];
  await api.post('/v1/appointments', { ...visit, contact: kim, external_id: 'x' }).refuses(409, 'external_id_taken');
  await api.patch(`/v1/appointments/${second}`, { external_id: 'x' }).refuses(409, 'external_id_taken');
  await deleteAppointment(ctx, first);
  await api.patch(`/v1/appointments/${second}`, { external_id: 'x' }).succeeds();
});

test('what is sent twice with one Idempotency-Key is done once', async () => {
  const dealer = await dealership();
  const twice = async (path: string, body: object, key: string) => {
    const once = { 'idempotency-key': key };
    const [a, b] = [await dealer.api.post(path, body, once), await dealer.api.post(path, body, once)];
    assert.deepEqual([b.status, b.body.data, b.headers['idempotent-replayed']], [a.status, a.body.data, 'true']);
    return a.body.data.id;
  };
  const id = await twice('/v1/appointments', { ...visit, contact: kim }, 'booking-1');
  await twice(`/v1/appointments/${id}/cancel`, { reason: 'Ill' }, 'cancel-1');
  assert.deepEqual(await typesOf(dealer), ['appointment.created', 'appointment.cancelled']);
});

// ---- The list ----

test('appointments are filtered by what they are, whom and what they are about, and when they begin', async () => {
  const { api, owner, branch, newBranch } = await dealership();
  const away = await newBranch();
  const vehicle = await api.post('/v1/vehicles', car).succeeds(201);
  const customer = await api.post('/v1/customers', kim).succeeds(201);
  const a = await book(api, { vehicle_id: vehicle.id, customer_id: customer.id, assigned_to_id: owner.id, type: 'MOT', external_id: 'a' });
  const b = await book(api, { branch_id: away.id, status: 'CONFIRMED', starts_at: '2026-05-08T09:00:00Z' });
  const found = async (query: string) => (await api.get(`/v1/appointments?${query}`).succeeds()).map(({ id }: { id: string }) => id).sort();
  const both = [a, b].sort();
  const answers: [string, string[]][] = [
    ['status=CONFIRMED', [b]],
    ['status=BOOKED,CONFIRMED', both],
    ['type=MOT', [a]],
    [`branch_id=${away.id}`, [b]],
    [`branch_id=${away.id},${branch.id}`, both],
    [`customer_id=${customer.id}`, [a]],
    [`vehicle_id=${vehicle.id}`, [a]],
    [`assigned_to_id=${owner.id},${nobody}`, [a]],
    ['external_id=a', [a]],
    ['starts_from=2026-05-02', [b]],
    ['starts_to=2026-05-07', [a]],
    ['starts_from=2026-05-01&starts_to=2026-05-08', both],
    ['starts_from=2026-05-08&starts_to=2026-05-01', []],
    ['starts_from=2026-05-01T09:00:01Z', [b]],
    ['starts_to=2026-05-01T09:00:00Z', [a]],
    ['starts_from=2026-05-01T10:00:00%2B01:00&starts_to=2026-05-01T10:00:00%2B01:00', [a]],
    ['starts_from=0001-01-01&starts_to=9999-12-31', both],
    ['type=MOT&status=CONFIRMED', []],
  ];
  for (const [query, ids] of answers) assert.deepEqual(await found(query), ids, query);
  const refused = async (query: string) => (await api.get(`/v1/appointments?${query}`).refuses(422, 'validation_failed')).errors;
  assert.match(JSON.stringify(await refused('status=SLEEPING')), /appointment-statuses/);
  for (const wrong of ['2026-02-30', '2026-05-01T09:00:00', 'today', '0000-01-01', '2026-5-1', ''])
    for (const field of ['starts_from', 'starts_to']) assert.deepEqual(Object.keys(await refused(`${field}=${wrong}`)), [field], wrong);
  await refused('enquiry_id=x');

  const { body } = await api.get('/v1/appointments?starts_from=2026-05-01&limit=1');
  const rest = await api.get(`/v1/appointments?starts_from=2026-05-01&cursor=${body.meta.next_cursor}`).succeeds();
  assert.deepEqual([body.data[0].id, rest[0].id], [a, b]);
  assert.deepEqual(Object.keys(await refused(`starts_from=2026-05-02&cursor=${body.meta.next_cursor}`)), ['cursor']);
});

/** The last second of the day before, the first and the last of the day, the first of the day after. */
const clockChanges: Record<string, Record<string, string[]>> = {
  'Europe/London': {
    '2026-01-31': ['2026-01-30T23:59:59Z', '2026-01-31T00:00:00Z', '2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z'],
    '2026-03-29': ['2026-03-28T23:59:59Z', '2026-03-29T00:00:00Z', '2026-03-29T22:59:59Z', '2026-03-29T23:00:00Z'],
    '2026-10-25': ['2026-10-24T22:59:59Z', '2026-10-24T23:00:00Z', '2026-10-25T23:59:59Z', '2026-10-26T00:00:00Z'],
  },
  // Where the clocks are changed at midnight: in spring there is none, in autumn there are two.
  'Atlantic/Azores': {
    '2026-03-29': ['2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z', '2026-03-29T23:59:59Z', '2026-03-30T00:00:00Z'],
    '2026-10-25': ['2026-10-24T23:59:59Z', '2026-10-25T00:00:00Z', '2026-10-26T00:59:59Z', '2026-10-26T01:00:00Z'],
  },
  'Pacific/Auckland': {
    '2026-04-05': ['2026-04-04T10:59:59Z', '2026-04-04T11:00:00Z', '2026-04-05T11:59:59Z', '2026-04-05T12:00:00Z'],
    '2026-09-27': ['2026-09-26T11:59:59Z', '2026-09-26T12:00:00Z', '2026-09-27T10:59:59Z', '2026-09-27T11:00:00Z'],
  },
};

for (const [timeZone, days] of Object.entries(clockChanges)) {
  test(`a date is a day of the dealership’s time zone, its end inclusive, also when the clocks are changed: ${timeZone}`, async () => {
    const { api, newBranch } = await dealership({ timeZone });
    await newBranch();
    for (const [date, [before, first, last, after]] of Object.entries(days)) {
      for (const starts_at of [before, first, last, after]) await book(api, { starts_at });
      const starting = async (query: string) =>
        (await api.get(`/v1/appointments?limit=100&${query}`).succeeds()).map(({ starts_at }: Json) => starts_at).sort();
      const ofThese = async (query: string) => (await starting(query)).filter((at: string) => [before, first, last, after].includes(at));
      assert.deepEqual(await starting(`starts_from=${date}&starts_to=${date}`), [first, last]);
      assert.deepEqual(await ofThese(`starts_from=${date}`), [first, last, after]);
      assert.deepEqual(await ofThese(`starts_to=${date}`), [before, first, last]);
      assert.deepEqual(await ofThese(`starts_from=${first}&starts_to=${last}`), [first, last]);
      assert.deepEqual(await ofThese(`starts_from=${date}&starts_to=${first}`), [first], 'a date and a date-time together');
    }
  });
}

test('in the sandbox there are appointments in every status', async () => {
  const { apiWith } = await dealership();
  const api = await apiWith({ environment: 'test' });
  const seeded: { status: string }[] = await api.get('/v1/appointments?limit=100').succeeds();
  assert.deepEqual([...new Set(seeded.map(({ status }) => status))].sort(), [...appointmentStatuses].sort());
});
