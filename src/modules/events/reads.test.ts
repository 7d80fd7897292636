import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, test } from 'node:test';
import { inTransaction } from '#platform/db/transaction.ts';
import type { Api } from '../../../test/support/api.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership, house } from '../../../test/support/dealership.ts';
import { sandbox } from '../../../test/support/sandbox.ts';
import { customerDeleted, customerUpdated } from '../customers/contract.ts';
import { setUser } from '../staff/index.ts';
import { ping } from './contract.ts';
import type { StoredEvent } from './index.ts';
import { emit, eventText, eventTypes, storedEventColumns } from './index.ts';

afterEach(async () => (await house()).clock.release());

const person = { last_name: 'Ash', email: 'ash@customer.example' };
const testKey = { environment: 'test' } as const;

const gone = (id: string) => ({ id, deleted: true as const, deleted_at: '2030-01-01T00:00:00Z' });
type Told = { type?: (typeof eventTypes)[number]; id?: string; branchId?: string | null };

/** Has something happen, each in a write of its own, and tells the records it happened to. */
async function happen({ ctx }: Pick<Dealership, 'ctx'>, ...told: Told[]): Promise<string[]> {
  const ids: string[] = [];
  for (const { type = customerDeleted, id = randomUUID(), branchId = null } of told) {
    const object = type === ping ? { id, message: 'Hello' } : gone(id);
    await inTransaction(ctx, async (tx) => emit(tx, type, object, { resourceId: id, branchId }));
    ids.push(id);
  }
  return ids;
}

// biome-ignore lint/suspicious/noExplicitAny: events of whatever type
type Events = any[];
const objects = (events: Events) => events.map(({ data }) => data.object.id);
const found = async (api: Api, query = ''): Promise<string[]> => objects(await api.get(`/v1/events?limit=100${query}`).succeeds());

/** All there is to the end of the list, and where that is. */
async function allOf(api: Api, from = ''): Promise<{ seen: Events; resume: string }> {
  const seen: Events = [];
  for (let resume = from; ; ) {
    const { body } = await api.get(`/v1/events?limit=100${resume && `&cursor=${resume}`}`);
    seen.push(...body.data);
    resume = body.meta.resume_cursor;
    if (!body.meta.has_more) return { seen, resume };
  }
}

/** An answer as it is sent. */
async function textOf({ app, api }: Dealership, path: string): Promise<string> {
  return (await app.inject({ method: 'GET', url: path, headers: { authorization: `Bearer ${api.key}` } })).payload;
}

test('an event is the same text in the list, by itself and as it is delivered', async () => {
  const dealer = await dealership();
  const { api, service } = dealer;
  const { id } = await api
    .post('/v1/customers', { ...person, first_name: 'Zoë "Z" O’Hara\u2028', metadata: { 10: 'a', 2: 'b' } })
    .succeeds(201);
  await api.patch(`/v1/customers/${id}`, { title: 'Dr' }).succeeds();
  const { rows } = await service.pools.doors.query(
    `select ${storedEventColumns.join()} from event where dealer_id = $1 order by sequence`,
    [dealer.id],
  );
  const texts = rows.map((row: StoredEvent) => eventText(row, dealer.id));
  assert.equal(texts.length, 2);
  const list = await textOf(dealer, '/v1/events');
  assert.ok(list.startsWith(`{"data":[${texts.join()}],"meta":{"next_cursor":null,"has_more":false,"resume_cursor":`));
  for (const text of texts) assert.equal(await textOf(dealer, `/v1/events/${JSON.parse(text).id}`), `{"data":${text}}`);
});

test('an event says what happened, when, where, to what, who did it and by which request', async () => {
  const { api, apiWith, branch, keyId } = await dealership();
  const narrow = await apiWith({ scopes: ['customers:read'] });
  const created = await api.post('/v1/customers', person);
  const { id } = created.body.data;
  const updated = await api.patch(`/v1/customers/${id}`, { title: 'Dr', tags: ['VIP'] });
  const [first, second] = await api.get('/v1/events').succeeds();
  assert.deepEqual(Object.keys(first), ['id', 'type', 'created_at', 'data', 'sequence', 'branch_id', 'actor', 'request_id']);
  assert.match(first.id, /^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual([first.type, second.type], ['customer.created', 'customer.updated']);
  assert.deepEqual([first.sequence, second.sequence], [1, 2]);
  assert.deepEqual([first.created_at, second.created_at], [created.body.data.created_at, updated.body.data.updated_at]);
  assert.deepEqual(Object.keys(first.data), ['object']);
  assert.deepEqual(second.data, { object: await narrow.get(`/v1/customers/${id}`).succeeds(), changed: ['title', 'tags'] });
  assert.deepEqual(first.actor, { kind: 'key', id: keyId, name: 'A key' });
  assert.deepEqual([first.branch_id, first.request_id], [branch.id, created.headers['x-request-id']]);
});

test('events come oldest first, page by page, and resume_cursor goes on when more has happened', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const ids = await happen(dealer, {}, {}, {}, {}, {});
  const first = await api.get('/v1/events?limit=2');
  assert.deepEqual([objects(first.body.data), first.body.meta.has_more], [ids.slice(0, 2), true]);
  assert.equal(first.body.meta.next_cursor, first.body.meta.resume_cursor);
  const rest = await api.get(`/v1/events?limit=3&cursor=${first.body.meta.next_cursor}`);
  assert.deepEqual([objects(rest.body.data), rest.body.meta.has_more, rest.body.meta.next_cursor], [ids.slice(2), false, null]);
  const follow = `/v1/events?cursor=${rest.body.meta.resume_cursor}`;
  assert.deepEqual(await api.get(follow).succeeds(), []);
  const later = await happen(dealer, {}, {});
  assert.deepEqual(objects(await api.get(follow).succeeds()), later);
});

test('what happened in one write is told in its order, by sequence, also across pages', async () => {
  const { api, ctx } = await dealership();
  const ids = Array.from({ length: 7 }, () => randomUUID());
  await inTransaction(ctx, async (tx) => {
    for (const id of ids) emit(tx, customerDeleted, gone(id), { resourceId: id, branchId: null });
  });
  const seen: string[] = [];
  for (let cursor = ''; cursor !== null; ) {
    const { body } = await api.get(`/v1/events?limit=2${cursor && `&cursor=${cursor}`}`);
    seen.push(...objects(body.data));
    cursor = body.meta.next_cursor;
  }
  assert.deepEqual(seen, ids);
});

test('a cursor that was altered, or is used by another dealer, on another list or with other filters, is refused', async () => {
  const [dealer, stranger] = [await dealership(), await dealership()];
  const { api } = dealer;
  await happen(dealer, {}, {});
  const cursor: string = (await api.get('/v1/events?limit=1')).body.meta.next_cursor;
  await api.get(`/v1/events?limit=5&cursor=${cursor}`).succeeds();
  const refused = async (by: Api, path: string) =>
    assert.deepEqual(Object.keys((await by.get(path).refuses(422, 'validation_failed')).errors), ['cursor'], path);
  for (const bad of [`${cursor.slice(0, -2)}AA`, `A${cursor.slice(1)}`, cursor.split('.')[0], 'x', ''])
    await refused(api, `/v1/events?cursor=${bad}`);
  await refused(stranger.api, `/v1/events?cursor=${cursor}`);
  await refused(api, `/v1/customers?cursor=${cursor}`);
  for (const filter of ['type=*', 'created_since=2020-01-01T00:00:00Z', `object_id=${randomUUID()}`, 'delivery_success=false'])
    await refused(api, `/v1/events?${filter}&cursor=${cursor}`);
  await refused(api, `/v1/events?cursor=${(await api.get('/v1/customers')).body.meta.resume_cursor}`);
});

test('type takes types, families and *, any of them', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const customer = await api.post('/v1/customers', person).succeeds(201);
  await api.patch(`/v1/customers/${customer.id}`, { title: 'Dr' }).succeeds();
  await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Ka' }).succeeds(201);
  await happen(dealer, { type: ping });
  const types = async (query: string) => (await api.get(`/v1/events?${query}`).succeeds()).map(({ type }: { type: string }) => type);
  const all = ['customer.created', 'customer.updated', 'vehicle.created', 'ping'];
  for (const [query, expected] of [
    ['type=*', all],
    ['type=customer.*', all.slice(0, 2)],
    ['type=customer.updated', ['customer.updated']],
    ['type=vehicle.created,customer.created', ['customer.created', 'vehicle.created']],
    ['type=vehicle.*&type=ping', ['vehicle.created', 'ping']],
    ['type=vehicle.*,vehicle.created', ['vehicle.created']],
    ['type=deal.*,theme_generation.*', []],
  ] as const)
    assert.deepEqual(await types(query), expected, query);
});

test('a type nobody knows is refused and named', async () => {
  const { api } = await dealership();
  for (const [query, named] of [
    ['vehicle.sold', 'vehicle.sold'],
    ['vehicle.created,nothing.*', 'nothing.*'],
    ['VEHICLE.CREATED', 'VEHICLE.CREATED'],
    ['ping.*', 'ping.*'],
    ['', ''],
  ]) {
    const { errors } = await api.get(`/v1/events?type=${query}`).refuses(422, 'validation_failed');
    assert.deepEqual(errors, { type: [`No type of event is called "${named}". GET /v1/event-types lists them.`] });
  }
});

test('created_since is inclusive to the microsecond, updated_since is another name for it, and created_before ends it', async () => {
  const dealer = await dealership();
  const { api, clock } = dealer;
  clock.set('2030-01-01T00:00:00.999999Z');
  const [early] = await happen(dealer, {});
  clock.set('2030-01-01T00:00:05.500000Z');
  const [late] = await happen(dealer, {});
  for (const name of ['created', 'updated']) {
    assert.deepEqual(await found(api, `&${name}_since=2030-01-01T00:00:05Z`), [late]);
    assert.deepEqual(await found(api, `&${name}_since=2030-01-01T00:00:05.5Z`), [late]);
    assert.deepEqual(await found(api, `&${name}_since=2030-01-01T00:00:05.500001Z`), []);
    assert.deepEqual(await found(api, `&${name}_since=2030-01-01T01:00:00.999999%2B01:00`), [early, late]);
    assert.deepEqual(await found(api, `&${name}_before=2030-01-01T00:00:05.5Z`), [early]);
  }
  const both = (one: string, other: string) => `&created_since=${one}&updated_since=${other}`;
  assert.deepEqual(await found(api, both('2030-01-01T00:00:05Z', '2030-01-01T01:00:05%2B01:00')), [late]);
  const different = await api.get(`/v1/events?${both('2030-01-01T00:00:05Z', '2030-01-01T00:00:06Z')}`).refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(different.errors), ['updated_since']);
  await api.get('/v1/events?created_before=2030-01-01T00:00:05Z&updated_before=2030-01-01T00:00:06Z').refuses(422, 'validation_failed');
  const { meta } = (await api.get('/v1/events?limit=1&created_since=2029-12-31T00:00:00Z')).body;
  assert.deepEqual(objects(await api.get(`/v1/events?updated_since=2029-12-31T00:00:00Z&cursor=${meta.next_cursor}`).succeeds()), [late]);
});

test('object_id finds what happened to a record, branch_id what happened at a branch, ids what they name', async () => {
  const dealer = await dealership();
  const { api, branch, newBranch } = dealer;
  const away = await newBranch();
  const [a = '', b = ''] = await happen(dealer, { branchId: branch.id }, { branchId: away.id }, {});
  await happen(dealer, { id: a, branchId: away.id });
  assert.deepEqual(await found(api, `&object_id=${a}`), [a, a]);
  assert.deepEqual(await found(api, `&object_id=${randomUUID()}`), []);
  assert.deepEqual(await found(api, `&branch_id=${away.id}`), [b, a]);
  assert.deepEqual(await found(api, `&object_id=${a}&branch_id=${branch.id}`), [a]);
  const ids = (await api.get('/v1/events').succeeds()).map(({ id }: { id: string }) => id);
  assert.deepEqual(await found(api, `&ids=${ids[3]},${ids[1]},evt_${randomUUID()}`), [b, a]);
  for (const bad of [
    `ids=${a}`,
    'ids=evt_1',
    'object_id=evt_1',
    `object_id=${a},${b}`,
    'external_id=1',
    'include_deleted=true',
    'delivery_success=true',
    'sort=type',
  ])
    await api.get(`/v1/events?${bad}`).refuses(422, 'validation_failed');
});

test('with each scope a key sees the events of its family, one by one and in the list, and no others', async () => {
  const dealer = await dealership();
  const { api, apiWith, ctx, branch } = dealer;
  const details = await api.get('/v1/event-types').succeeds();
  for (const type of eventTypes) {
    const { example } = details.find((one: { type: string }) => one.type === type.type);
    const about = { resourceId: example.data.object.id, branchId: branch.id };
    await inTransaction(ctx, async (tx) => emit(tx, type, example.data.object, about));
  }
  const events: Events = await api.get('/v1/events').succeeds();
  assert.deepEqual(
    events.map(({ type }) => type),
    eventTypes.map(({ type }) => type),
  );
  const families: Record<string, readonly string[]> = {
    'vehicles:read': ['vehicle.', 'vehicle_batch.'],
    'vehicles:write': ['vehicle_batch.'],
    'enquiries:read': ['enquiry.'],
    'customers:read': ['customer.'],
    'sales:read': ['deal.'],
    'appointments:read': ['appointment.'],
    'workshop:read': ['job_card.'],
    'website_themes:read': ['theme_generation.'],
    'vehicles:costs': [],
    'customers:write': [],
    'webhooks:manage': [],
  };
  for (const [scope, prefixes] of Object.entries(families)) {
    const narrow = await apiWith({ scopes: ['events:read', scope as never] });
    const visible = events.filter(({ type }) => type === 'ping' || prefixes.some((prefix) => type.startsWith(prefix)));
    assert.deepEqual(await narrow.get('/v1/events').succeeds(), visible, scope);
    assert.deepEqual(await narrow.get('/v1/events?type=*').succeeds(), visible, scope);
    for (const event of events) {
      const asked = narrow.get(`/v1/events/${event.id}`);
      if (visible.includes(event)) assert.deepEqual(await asked.succeeds(), event);
      else await asked.refuses(404, 'not_found');
    }
  }
  const customersOnly = await apiWith({ scopes: ['events:read', 'customers:read'] });
  assert.deepEqual(await customersOnly.get('/v1/events?type=vehicle.*,deal.created').succeeds(), []);
});

test('what the owner may no longer see, the key sees no event of', async () => {
  const dealer = await dealership();
  const { id } = await dealer.api.post('/v1/customers', person).succeeds(201);
  const owner = await dealer.newUser();
  const api = await dealer.apiWith({ ownerId: owner.id });
  assert.equal((await found(api)).length, 1);
  await setUser(dealer.ctx, owner.email, { without: ['CUSTOMERS_VIEW'] });
  await api.get(`/v1/customers/${id}`).refuses(403, 'scope_not_permitted_for_owner');
  assert.deepEqual(await api.get('/v1/events').succeeds(), []);
});

test('reading events needs events:read, the permission behind it, a private key and a paid plan', async () => {
  const dealer = await dealership();
  const { api, apiWith, ctx, newUser, setPlan } = dealer;
  await happen(dealer, {});
  const [{ id }] = await api.get('/v1/events').succeeds();
  const member = await newUser();
  const keys = {
    none: api.as(null),
    unscoped: await apiWith({ scopes: ['customers:read'] }),
    unpermitted: await apiWith({ ownerId: member.id }),
    publishable: await apiWith({ kind: 'publishable' }),
  };
  await setUser(ctx, member.email, { without: ['EVENTS_VIEW'] });
  for (const path of ['/v1/events', `/v1/events/${id}`]) {
    await keys.none.get(path).refuses(401, 'missing_api_key');
    assert.deepEqual((await keys.unscoped.get(path).refuses(403, 'insufficient_scope')).required, { scope: 'events:read' });
    const { required } = await keys.unpermitted.get(path).refuses(403, 'scope_not_permitted_for_owner');
    assert.deepEqual(required, { scope: 'events:read', permission: 'EVENTS_VIEW' });
    await keys.publishable.get(path).refuses(403, 'secret_key_required');
  }
  await keys.publishable.get('/v1/event-types').refuses(403, 'secret_key_required');
  await keys.unscoped.get('/v1/event-types').succeeds();
  await setPlan('FREE');
  for (const path of ['/v1/events', `/v1/events/${id}`, '/v1/event-types']) await api.get(path).refuses(403, 'plan_not_entitled');
});

test('a key restricted to branches sees events of these and of none', async () => {
  const dealer = await dealership();
  const { api, apiWith, branch, newBranch } = dealer;
  const away = await newBranch();
  const [here, there, nowhere] = await happen(dealer, { branchId: branch.id }, { branchId: away.id }, {});
  const restricted = await apiWith({ branchIds: [branch.id] });
  assert.deepEqual(await found(restricted), [here, nowhere]);
  assert.deepEqual(await found(restricted, `&branch_id=${away.id}`), []);
  const events: Events = await api.get('/v1/events').succeeds();
  for (const { id, data } of events) {
    const asked = restricted.get(`/v1/events/${id}`);
    await (data.object.id === there ? asked.refuses(404, 'not_found') : asked.succeeds());
  }
  const owner = await dealer.newUser({ branches: [away.id] });
  assert.deepEqual(await found(await apiWith({ branchIds: [branch.id], ownerId: owner.id })), [nowhere], 'of no branch in common');
});

test('an event that is missing, malformed, another dealer’s or too old is the same 404', async () => {
  const [dealer, stranger] = [await dealership(), await dealership()];
  await happen(dealer, {});
  await happen(stranger, {});
  const [own] = await dealer.api.get('/v1/events').succeeds();
  const [theirs] = await stranger.api.get('/v1/events').succeeds();
  const bare = own.id.slice(4);
  const odd = [
    'evt_',
    `evt_${bare}0`,
    `evt_${bare.slice(1)}`,
    bare,
    `vt_${bare}`,
    `evt-${bare}`,
    `evt_${bare.replaceAll('-', '')}`,
    'evt_%00',
  ];
  const nobodys = [
    randomUUID(),
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    `${bare.slice(0, -1)}${bare.endsWith('0') ? 1 : 0}`,
  ];
  const answers = [];
  for (const id of [theirs.id, ...odd, ...nobodys.map((uuid) => `evt_${uuid}`)]) {
    const { request_id: _own, ...body } = await dealer.api.get(`/v1/events/${id}`).refuses(404, 'not_found');
    answers.push(body);
  }
  for (const body of answers) assert.deepEqual(body, answers[0]);
  assert.deepEqual(await dealer.api.get(`/v1/events/${own.id.toUpperCase()}`).succeeds(), own);
});

test('an event is there for exactly 30 days', async () => {
  const dealer = await dealership();
  const { api, clock } = dealer;
  clock.set('2030-03-01T08:00:00.000001Z');
  const [object] = await happen(dealer, {});
  const [event] = await api.get('/v1/events').succeeds();
  clock.set('2030-03-31T08:00:00.000001Z');
  assert.deepEqual(await found(api), [object]);
  assert.deepEqual(await api.get(`/v1/events/${event.id}`).succeeds(), event);
  clock.set('2030-03-31T08:00:00.000002Z');
  assert.deepEqual(await found(api), []);
  assert.deepEqual(await found(api, '&created_since=2020-01-01T00:00:00Z'), []);
  assert.deepEqual(await found(api, `&ids=${event.id}`), []);
  await api.get(`/v1/events/${event.id}`).refuses(404, 'not_found');
});

test('in the sandbox events are shared, but batches and tests of endpoints are the calling dealership’s, and so is who did it', async () => {
  const [a, b] = [await dealership(), await dealership()];
  const [ofA, ofB] = [await a.apiWith(testKey), await b.apiWith(testKey)];
  const shared = await sandbox();
  const { resume: begun } = await allOf(ofA);
  const { id } = await ofA.post('/v1/customers', person).succeeds(201);
  await happen({ ctx: { ...shared.ctx, caller: { ...shared.ctx.caller, callingDealerId: a.id } } }, { type: ping });
  await ofA.post('/v1/vehicles/batch', [{ nothing: 1 }]).succeeds(202);
  await happen(shared, {});

  const [{ seen: forA }, { seen: forB }] = [await allOf(ofA, begun), await allOf(ofB, begun)];
  assert.deepEqual(
    forA.map(({ type }) => type),
    ['customer.created', 'ping', 'vehicle_batch.completed', 'customer.deleted'],
  );
  assert.deepEqual(
    forB.map(({ type }) => type),
    ['customer.created', 'customer.deleted'],
  );
  assert.equal(forA[0].data.object.id, id);
  assert.deepEqual([forA[0].actor.kind, forA[0].actor.name], ['key', 'A key']);
  assert.deepEqual(forB[0].actor, { kind: 'key', id: null, name: null });
  assert.deepEqual({ ...forB[0], actor: forA[0].actor }, forA[0]);
  for (const own of forA.slice(1, 3)) {
    await ofA.get(`/v1/events/${own.id}`).succeeds();
    await ofB.get(`/v1/events/${own.id}`).refuses(404, 'not_found');
  }
  assert.deepEqual(await a.api.get('/v1/events').succeeds(), []);
});

test('a ping is told like anything else, and no subscription means it', async () => {
  const dealer = await dealership();
  const endpoint = await endpointOf(dealer, { events: ['*'], readable: ['ping', 'customer.deleted'] });
  const [, deleted] = await happen(dealer, { type: ping }, {});
  const { rows } = await dealer.service.pools.doors.query(
    'select e.resource_id, d.endpoint_id, d.id = delivery_id(e.id, d.endpoint_id) as named from delivery d join event e on e.id = d.event_id and e.created_at = d.event_at where d.dealer_id = $1',
    [dealer.id],
  );
  assert.deepEqual(rows, [{ resource_id: deleted, endpoint_id: endpoint, named: true }]);
  assert.equal((await dealer.api.get('/v1/events?type=ping').succeeds()).length, 1);
});

test('delivery_success=false finds what waits for its delivery or was tried in vain, at endpoints of the calling dealership', async () => {
  const dealer = await dealership();
  const { api, service, apiWith } = dealer;
  const untold = await happen(dealer, {});
  const [one, other] = [
    await endpointOf(dealer, { readable: ['customer.deleted'] }),
    await endpointOf(dealer, { readable: ['customer.deleted'] }),
  ];
  const ids = await happen(dealer, {}, {}, {}, {}, {});
  const [waiting, delivered, failed, recovered, halfway] = ids;
  const settle = async (object: string | undefined, endpoint: string, ...successes: boolean[]) => {
    const { rows } = await service.pools.doors.query('select * from event where dealer_id = $1 and resource_id = $2', [dealer.id, object]);
    await service.pools.doors.query("select partition_day('delivery_attempt', $1::date)", [rows[0].created_at]);
    await service.pools.doors.query('delete from delivery where event_id = $1 and endpoint_id = $2', [rows[0].id, endpoint]);
    for (const [at, success] of successes.entries())
      await service.pools.doors.query(
        `insert into delivery_attempt (dealer_id, attempted_at, id, endpoint_id, delivery_id, event_id, event_at, event_type, attempt, manual, success, request_headers, request_body, duration_ms, updated_at)
         values ($1, $2, gen_random_uuid(), $3, delivery_id($4, $3), $4, $2, 'customer.deleted', $5, false, $6, '{}', '', 1, $2)`,
        [dealer.id, rows[0].created_at, endpoint, rows[0].id, at + 1, success],
      );
  };
  for (const endpoint of [one, other]) {
    await settle(delivered, endpoint, true);
    await settle(recovered, endpoint, false, false, true);
  }
  await settle(failed, one, false, false);
  await settle(failed, other, true);
  await settle(halfway, one, true);
  await settle(halfway, other);
  const undelivered = '&delivery_success=false';
  assert.deepEqual(await found(api, undelivered), [waiting, failed]);
  assert.deepEqual(await found(await apiWith({ scopes: ['events:read', 'customers:read'] }), undelivered), [waiting, failed]);
  assert.deepEqual(await found(await apiWith({ scopes: ['events:read', 'vehicles:read'] }), undelivered), []);
  assert.ok(!(await found(api, undelivered)).includes(untold[0]!));
  await service.pools.doors.query('delete from webhook_endpoint where id = $1', [one]);
  assert.deepEqual(await found(api, undelivered), [waiting], 'what was owed to an endpoint ends with it');
  await service.pools.doors.query('update webhook_endpoint set calling_dealer_id = $2 where id = $1', [other, randomUUID()]);
  assert.deepEqual(await found(api, undelivered), [], 'an endpoint of somebody else in the sandbox');
});

/** An endpoint as it is kept. */
async function endpointOf(
  { id, service }: Dealership,
  { events = ['*'], readable }: { events?: string[]; readable: string[] },
): Promise<string> {
  const { rows } = await service.pools.doors.query(
    `insert into webhook_endpoint (dealer_id, id, calling_dealer_id, url, events, readable_types, all_branches, branch_ids, enabled, created_by, secret_hint, secret_enc, created_at, updated_at)
     values ($1, gen_random_uuid(), $1, 'https://hooks.example/a', $2, $3, true, '{}', true, '{}', 'abcd', '', now(), now()) returning id`,
    [id, events, readable],
  );
  return rows[0].id;
}

test('a change that is undone is read by nobody', async () => {
  const { api, ctx } = await dealership();
  const undone = inTransaction(ctx, async (tx) => {
    emit(tx, customerUpdated, gone(randomUUID()), { resourceId: randomUUID(), branchId: null });
    throw new Error('undone');
  });
  await assert.rejects(undone);
  assert.deepEqual(await api.get('/v1/events').succeeds(), []);
});
