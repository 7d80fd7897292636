import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVehicle } from '#modules/vehicles/contract.ts';
import { moveForDeal } from '#modules/vehicles/index.ts';
import { operation } from '#platform/contract.ts';
import type { Code } from '#platform/errors.ts';
import { catalogue } from '#platform/errors.ts';
import { answer } from '#platform/http/answer.ts';
import { checksum } from '#platform/secrets.ts';
import { speak } from '../support/api.ts';
import { alsoServe, dealership } from '../support/dealership.ts';
import { sandbox } from '../support/sandbox.ts';

type Kind = 'secret' | 'publishable';
type Environment = 'live' | 'test';
type Op = 'create' | 'change' | 'read';

/** A request and the state of the key that sends it, before anything is wrong with either. */
interface Situation {
  method: string;
  path: string;
  id: string;
  query: string;
  headers: Record<string, string>;
  body: unknown;
  authorization: (key: string) => string | null;
  expired: boolean;
  revoked: boolean;
  rolled: boolean;
  owner: 'active' | 'banned' | 'deleted';
  sandboxOff: boolean;
  overLimit: boolean;
  ips: string[];
  plan: 'FREE' | 'STANDARD';
  scopes: string[];
  withheld: string[];
  full: boolean;
}

interface Fault {
  readonly name: string;
  readonly code: Code;
  /** The field its 422 names. */
  readonly field?: string;
  readonly of?: { kind?: Kind; environment?: Environment; ops?: readonly Op[] };
  readonly put: (s: Situation, at: World) => unknown;
}

/** What the requests of one kind of key are about. */
interface World {
  readonly op: Op;
  readonly anotherBranch: string;
  readonly vehicle: string;
  readonly soldVehicle: string;
  readonly taken: { externalId: string; registration: string };
}

const bodies = { ops: ['create', 'change'] } as const;
const creates = { ops: ['create'] } as const;
const secret = { kind: 'secret' } as const;
const publishable = { kind: 'publishable' } as const;
const write = (field: string, value: unknown) => (s: Situation) => {
  s.body = { ...(s.body as object), [field]: value };
};
const text = (body: unknown) => (s: Situation) => {
  s.body = body;
};
const credential = (authorization: (key: string) => string | null) => (s: Situation) => {
  s.authorization = authorization;
};
const origin = (from: string) => (s: Situation) => {
  s.headers.origin = from;
};
const wrongSecret = (key: string) => {
  const stem = `${key.slice(0, -38)}${'0'.repeat(32)}`;
  return stem + checksum(stem);
};
const unknownLookup = (key: string) => {
  const stem = `${key.slice(0, -51)}${'0'.repeat(12)}${key.slice(-39, -6)}`;
  return stem + checksum(stem);
};

/** Everything that can be wrong with a request, in the order in which it is said (`spec/open-points.md`, §0.13). */
const faults: readonly Fault[] = [
  { name: 'an unknown path', code: 'not_found', put: (s) => (s.path = '/v1/nothing') },
  { name: 'a wrong method', code: 'method_not_allowed', put: (s) => (s.method = 'PUT') },
  { name: 'no key', code: 'missing_api_key', put: credential(() => null) },
  { name: 'no bearer token', code: 'missing_api_key', put: credential((key) => `Basic ${key}`) },
  { name: 'a key of no known form', code: 'invalid_api_key', put: credential(() => 'Bearer garbage') },
  {
    name: 'a bad checksum',
    code: 'invalid_api_key',
    put: credential((key) => `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`),
  },
  { name: 'an unknown key', code: 'invalid_api_key', put: credential((key) => `Bearer ${unknownLookup(key)}`) },
  { name: 'the wrong secret of a known key', code: 'invalid_api_key', put: credential((key) => `Bearer ${wrongSecret(key)}`) },
  { name: 'a revoked key', code: 'api_key_revoked', put: (s) => (s.revoked = true) },
  { name: 'a rolled key', code: 'api_key_revoked', put: (s) => (s.rolled = true) },
  { name: 'an expired key', code: 'api_key_expired', put: (s) => (s.expired = true) },
  { name: 'a banned owner', code: 'key_owner_inactive', put: (s) => (s.owner = 'banned') },
  { name: 'a deleted owner', code: 'key_owner_inactive', put: (s) => (s.owner = 'deleted') },
  { name: 'the sandbox switched off', code: 'sandbox_unavailable', of: { environment: 'test' }, put: (s) => (s.sandboxOff = true) },
  { name: 'the allowance used up', code: 'rate_limited', put: (s) => (s.overLimit = true) },
  { name: 'a secret key in a browser', code: 'secret_key_in_browser', of: secret, put: origin('https://www.example.com') },
  { name: 'a secret key with an empty Origin', code: 'secret_key_in_browser', of: secret, put: origin('') },
  { name: 'a secret key with Origin: null', code: 'secret_key_in_browser', of: secret, put: origin('null') },
  { name: 'an address that is not allowed', code: 'ip_not_allowed', of: secret, put: (s) => (s.ips = ['203.0.113.0/24']) },
  { name: 'an origin that is not allowed', code: 'origin_not_allowed', of: publishable, put: origin('https://elsewhere.example') },
  { name: 'an empty Origin', code: 'origin_not_allowed', of: publishable, put: origin('') },
  { name: 'Origin: null', code: 'origin_not_allowed', of: publishable, put: origin('null') },
  { name: 'the plan FREE', code: 'plan_not_entitled', of: secret, put: (s) => (s.plan = 'FREE') },
  { name: 'a publishable key where a secret one is needed', code: 'secret_key_required', of: { ...publishable, ...bodies }, put: () => {} },
  {
    name: 'a secret key where a publishable one is needed',
    code: 'publishable_key_required',
    of: { ...secret, ...creates },
    put: (s) => (s.path = '/v1/test/publishable-only'),
  },
  { name: 'a key without the scope', code: 'insufficient_scope', of: secret, put: (s) => (s.scopes = ['branches:read']) },
  {
    name: 'an owner without the permission',
    code: 'scope_not_permitted_for_owner',
    put: (s, { op }) => (s.withheld = [op === 'read' ? 'STOCK_VIEW' : 'STOCK_EDIT']),
  },
  { name: 'a body that is too large', code: 'body_too_large', of: bodies, put: (s) => (s.headers['content-length'] = '10485761') },
  { name: 'malformed JSON', code: 'validation_failed', field: 'body', of: bodies, put: text('{"condition":') },
  {
    name: 'an Idempotency-Key that is none',
    code: 'validation_failed',
    field: 'Idempotency-Key',
    of: creates,
    put: (s) => (s.headers['idempotency-key'] = 'x'.repeat(256)),
  },
  {
    name: 'an Idempotency-Key used before',
    code: 'idempotency_key_reused',
    of: creates,
    put: (s) => (s.headers['idempotency-key'] = 'used'),
  },
  { name: 'an unknown field', code: 'validation_failed', field: 'nonsense', of: bodies, put: write('nonsense', 1) },
  { name: 'an unknown query parameter', code: 'validation_failed', field: 'absurdity', put: (s) => (s.query = '?absurdity=1') },
  { name: 'a status the API never sets', code: 'validation_failed', field: 'status', of: bodies, put: write('status', 'SOLD') },
  {
    name: 'a code of the dealer’s own that nobody made',
    code: 'validation_failed',
    field: 'costs.purchase_source',
    of: { ...secret, ...bodies },
    put: write('costs', { purchase_source: 'X_NEVER' }),
  },
  { name: 'costs without their scope', code: 'insufficient_scope', of: bodies, put: write('costs', { purchase_price: 1 }) },
  { name: 'a malformed id', code: 'not_found', of: { ops: ['change', 'read'] }, put: (s) => (s.id = 'none') },
  {
    name: 'a missing record',
    code: 'not_found',
    of: { ops: ['change', 'read'] },
    put: (s) => (s.id = '00000000-0000-0000-0000-000000000000'),
  },
  {
    name: 'a branch out of reach',
    code: 'branch_move_not_permitted',
    of: bodies,
    put: (s, { anotherBranch }) => write('branch_id', anotherBranch)(s),
  },
  {
    name: 'a sold vehicle',
    code: 'vehicle_in_deal',
    of: { ops: ['change'] },
    put: (s, { soldVehicle }) => {
      s.id = soldVehicle;
      write('registration', 'NEW1')(s);
    },
  },
  {
    name: 'an external id that is taken',
    code: 'external_id_taken',
    of: creates,
    put: (s, { taken }) => write('external_id', taken.externalId)(s),
  },
  {
    name: 'a vehicle for sale without a price',
    code: 'validation_failed',
    field: 'asking_price',
    of: bodies,
    put: write('status', 'FOR_SALE'),
  },
  {
    name: 'a registration that is in stock',
    code: 'vehicle_not_created',
    of: creates,
    put: (s, { taken }) => write('registration', taken.registration)(s),
  },
  { name: 'a full sandbox', code: 'sandbox_stock_cap_reached', of: { ...creates, environment: 'test' }, put: (s) => (s.full = true) },
];

const publishableOnly = operation({
  ...createVehicle,
  id: 'test.publishable_only',
  path: '/v1/test/publishable-only',
  access: { scopes: createVehicle.access.scopes, kinds: ['publishable'] },
});
alsoServe(answer(publishableOnly, async () => assert.fail('no secret key comes this far')));

const combinations = (['live', 'test'] as const).flatMap((environment) => [
  ...(['create', 'change', 'read'] as const).map((op) => ({ kind: 'secret' as const, environment, op })),
  ...(['create', 'change', 'read'] as const).map((op) => ({ kind: 'publishable' as const, environment, op })),
]);

test('the checks are made in one order: each fault is answered whatever later ones the request has as well', async () => {
  const seen = new Set<string>();
  for (const { kind, environment, op } of combinations) {
    const ladder = faults.filter(({ of: { kind: onlyKind = kind, environment: only = environment, ops = [op] } = {} }) => {
      return onlyKind === kind && only === environment && ops.includes(op);
    });
    const { ask, recover } = await household(kind, environment, op);
    for (const [at, fault] of ladder.entries()) {
      seen.add(fault.name);
      const { status, body } = await ask(ladder.slice(at));
      const name = `${environment} ${kind} key, ${op}: ${fault.name}`;
      assert.deepEqual([status, body.code], [catalogue[fault.code].status, fault.code], `${name}: ${JSON.stringify(body)}`);
      if (fault.field) assert.ok(fault.field in body.errors, `${name}: ${JSON.stringify(body.errors)}`);
      // Where the kind is wrong nothing else can be reached.
      if (fault.code === 'secret_key_required') break;
    }
    if (kind === 'secret' || op === 'read') {
      const { status, body } = await ask([]);
      assert.equal(status, op === 'create' ? 201 : 200, `without a fault: ${JSON.stringify(body)}`);
    }
    await recover();
  }
  assert.deepEqual(
    faults.map(({ name }) => name).filter((name) => !seen.has(name)),
    [],
    'every fault was tried',
  );
});

test('whether a code is one the dealer has made is a matter of shape: it is asked before the record is looked for, and of filters too', async () => {
  const { api } = await dealership();
  const of: Record<string, { written: object; filters: readonly string[] }> = {
    vehicles: { written: { costs: { purchase_source: 'X_NEVER' } }, filters: [] },
    enquiries: { written: { type: 'X_NEVER', source: 'X_NEVER', lost_reason: 'X_NEVER' }, filters: ['type', 'source'] },
    deals: {
      written: { type: 'X_NEVER', cancellation_reason: 'X_NEVER', extras: [{ kind: 'X_NEVER', unit_price: 1 }] },
      filters: ['type'],
    },
    appointments: { written: { type: 'X_NEVER', transport_option: 'X_NEVER' }, filters: ['type'] },
    'job-cards': { written: { transport_option: 'X_NEVER' }, filters: ['type'] },
  };
  for (const [resource, { written, filters }] of Object.entries(of)) {
    const path = `/v1/${resource}/00000000-0000-4000-8000-000000000000`;
    const { errors } = await api.patch(path, written).refuses(422, 'validation_failed');
    assert.deepEqual(
      Object.keys(errors).map((field) => field.split('.')[0]),
      Object.keys(written),
    );
    for (const filter of filters) {
      const { errors } = await api.get(`/v1/${resource}?${filter}=X_NEVER`).refuses(422, 'validation_failed');
      assert.deepEqual(Object.keys(errors), [filter], resource);
    }
  }
});

/** A dealership whose keys are tried, and what puts it in a state for one request. */
async function household(kind: Kind, environment: Environment, op: Op) {
  const d = await dealership({ plan: 'STANDARD' });
  const shared = await sandbox();
  const home = environment === 'live' ? d.ctx : shared.ctx;
  const { doors } = d.service.pools;
  const all = await d.apiWith({ environment });
  const run = d.code.slice(2, 6).toUpperCase();
  const car = (more: object = {}) => all.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta', ...more }).succeeds(201);
  const branches = (await all.get('/v1/me').succeeds()).branches as { id: string }[];
  const anotherBranch =
    branches[1]?.id ?? (environment === 'live' ? (await d.newBranch()).id : assert.fail('the sandbox has several branches'));
  const vehicle = await car({ branch_id: branches[0]!.id, status: 'FOR_SALE', asking_price: 1 });
  const spare = await car({ branch_id: branches[0]!.id });
  const sold = await car({ branch_id: branches[0]!.id });
  await moveForDeal(home, sold.id, 'SOLD', spare.id);
  const taken = { externalId: `${d.code}-taken`, registration: `${run}1` };
  await car({ branch_id: branches[0]!.id, external_id: taken.externalId, registration: taken.registration });
  const world: World = { op, anotherBranch, vehicle: op === 'read' ? vehicle.id : spare.id, soldVehicle: sold.id, taken };

  /** Fills the calling dealership's share of the sandbox, or makes it count for nothing. */
  const fill = async (full: boolean) => {
    const stock = 'from vehicle where created_for_dealer_id = $1 and external_id like $2';
    const filler = [d.id, `${d.code}-filler-%`];
    const { rows } = await doors.query(`select count(*)::int as n ${stock}`, filler);
    for (let i = rows[0].n; i < d.service.limits.sandboxStockShare; i++) {
      await car({ branch_id: branches[0]!.id, status: 'DISPOSED', external_id: `${d.code}-filler-${i}` });
    }
    await doors.query(`update vehicle set status = $3 where id in (select id ${stock})`, [...filler, full ? 'IN_PREPARATION' : 'DISPOSED']);
  };

  const settle = async (state: Situation) => {
    await doors.query('update staff set status = $2 where id = $1', [d.owner.id, state.owner]);
    await doors.query('update staff set withheld = $2 where id = $1', [
      environment === 'live' ? d.owner.id : shared.user.id,
      state.withheld,
    ]);
    await d.setPlan(state.plan);
    await shared.available(!state.sandboxOff);
    if (environment === 'test' && op === 'create') await fill(state.full);
  };

  const ask = async (put: readonly Fault[]) => {
    const s = sound(kind, world);
    // The later ones first: where two cannot be in one request, the earlier one is.
    for (const fault of put.toReversed()) fault.put(s, world);

    await settle(sound(kind, world));
    const { id, key } = await d.newKey({ kind, environment, rateLimit: 1_000_000, branchIds: [branches[0]!.id] });
    const before = { authorization: `Bearer ${key}`, 'idempotency-key': 'used' };
    await speak(d.app, null).post('/v1/vehicles', {}, before);
    if (s.expired || s.overLimit) {
      await d.keys.change(d.ctx, id, { ...(s.expired && { expiresAt: '2020-01-01T00:00:00Z' }), ...(s.overLimit && { rateLimit: 1 }) });
    }
    if (kind === 'secret') await doors.query('update api_key set scopes = $2, ips = $3 where id = $1', [id, s.scopes, s.ips]);
    if (s.rolled) await d.keys.roll(d.ctx, id);
    if (s.revoked) await d.keys.revoke(d.ctx, id);
    await settle(s);

    const sent = s.authorization(key);
    const headers = { 'content-type': 'application/json', ...s.headers, ...(sent && { authorization: sent }) };
    const api = speak(d.app, null);
    const path = s.path.replace('{id}', s.id) + s.query;
    return s.method === 'GET'
      ? api.get(path, headers)
      : { POST: api.post, PATCH: api.patch, PUT: api.put }[s.method]!(path, s.body, headers);
  };

  return { ask, recover: () => settle(sound(kind, world)) };
}

function sound(kind: Kind, { op, vehicle }: World): Situation {
  return {
    method: { create: 'POST', change: 'PATCH', read: 'GET' }[op],
    path: op === 'create' ? '/v1/vehicles' : '/v1/vehicles/{id}',
    id: vehicle,
    query: '',
    headers: kind === 'publishable' ? { origin: 'https://www.example.com' } : {},
    body: op === 'create' ? { condition: 'USED', make: 'Ford', model: 'Focus' } : {},
    authorization: (key) => `Bearer ${key}`,
    expired: false,
    revoked: false,
    rolled: false,
    owner: 'active',
    sandboxOff: false,
    overLimit: false,
    ips: [],
    plan: 'STANDARD',
    scopes: ['vehicles:read', 'vehicles:write'],
    withheld: [],
    full: false,
  };
}
