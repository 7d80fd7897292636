import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dealership } from '../../../test/support/dealership.ts';
import { changeBranch, createBranch, createDealer, setDealer } from './index.ts';

const activityOf = async ({ service, id }: Awaited<ReturnType<typeof dealership>>, type: string) => {
  const { rows } = await service.pools.doors.query(
    'select action, fields from activity where dealer_id = $1 and record_type = $2 order by id',
    [id, type],
  );
  return rows;
};

test('me tells a secret key whose it is, what it may do and what is left', async () => {
  const { api, id, code, branch, owner, newUser, newKey, apiWith, keyId } = await dealership({ plan: 'STANDARD' });
  await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Focus' }).succeeds(201);
  const me = await api.get('/v1/me').succeeds();
  const { key, limits, ...rest } = me;
  assert.deepEqual(rest, {
    id,
    name: 'Test Motors',
    trading_name: null,
    dealer_code: code,
    environment: 'live',
    currency: 'GBP',
    country: 'GB',
    time_zone: 'Europe/London',
    locale: 'en-GB',
    vat_number: null,
    website_url: null,
    plan: { code: 'STANDARD', name: 'Standard', is_free: false },
    features: { theme_builder: false, instant_valuations: false },
    branches: [{ id: branch.id, name: 'Main' }],
    owner: { id: owner.id, name: 'A Member' },
    app: null,
  });
  const month = new Date();
  const next = new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 1));
  assert.deepEqual(limits, {
    stock: { cap: null, used: 1 },
    theme_generations: { limit: 10, used: 0, resets_at: `${next.toISOString().slice(0, 19)}Z` },
    webhook_endpoints: { limit: 20, used: 0 },
    rate_limit_per_minute: 1_000_000,
  });
  assert.deepEqual([key.id, key.kind, key.all_branches, key.branch_ids, key.expires_at], [keyId, 'secret', true, [], null]);
  assert.match(key.lookup, /^[0-9A-Za-z]{12}$/);

  const limited = await newUser({ role: 'SALES_EXECUTIVE', without: ['STOCK_EDIT'] });
  await assert.rejects(newKey({ ownerId: limited.id, scopes: ['vehicles:read', 'vehicles:write'] }), { code: 'validation_failed' });
  const reader = await apiWith({ ownerId: limited.id, scopes: ['vehicles:read'] });
  assert.deepEqual((await reader.get('/v1/me').succeeds()).key.effective_scopes, ['vehicles:read']);
});

test('me tells a publishable key no more than the public may know', async () => {
  const { apiWith, newBranch, id, branch } = await dealership();
  await newBranch(false);
  const publishable = await apiWith({ kind: 'publishable' });
  const me = await publishable.get('/v1/me').succeeds();
  assert.deepEqual(Object.keys(me).sort(), [
    'app',
    'branches',
    'country',
    'currency',
    'environment',
    'id',
    'key',
    'name',
    'time_zone',
    'trading_name',
    'website_url',
  ]);
  assert.deepEqual([me.id, me.app, me.branches], [id, null, [{ id: branch.id, name: 'Main' }]]);
  assert.deepEqual(Object.keys(me.key).sort(), ['id', 'kind', 'scopes']);
});

test('a test key sees the sandbox, with the plan of its own dealership', async () => {
  const { apiWith } = await dealership({ plan: 'STANDARD' });
  const me = await (await apiWith({ environment: 'test' })).get('/v1/me').succeeds();
  assert.deepEqual([me.dealer_code, me.environment, me.plan.code, me.limits.theme_generations.limit], ['sandbox', 'test', 'STANDARD', 100]);
});

test('branches are listed and read with all their fields', async () => {
  const { api, ctx, branch } = await dealership();
  const hours = [{ department: 'SALES' as const, day: 1, opens: '09:00', closes: '18:00' }];
  await changeBranch(ctx, branch.id, {
    phone: '+441132000000',
    address: { line1: '1 High Street', line2: null, city: 'Leeds', county: null, postcode: 'LS1 1AA', country: 'GB' },
    departments: ['SALES', 'SERVICE'],
    openingHours: hours,
    closedOn: ['2026-12-25'],
    latitude: 53.8,
  });
  const read = await api.get(`/v1/branches/${branch.id}`).succeeds();
  const { created_at, updated_at, ...fields } = read;
  assert.ok(created_at <= updated_at);
  assert.deepEqual(fields, {
    id: branch.id,
    name: 'Main',
    code: 'MAIN',
    is_default: true,
    published: true,
    address: { line1: '1 High Street', line2: null, city: 'Leeds', county: null, postcode: 'LS1 1AA', country: 'GB' },
    phone: '+441132000000',
    email: null,
    website_url: null,
    latitude: 53.8,
    longitude: null,
    time_zone: 'Europe/London',
    departments: ['SALES', 'SERVICE'],
    opening_hours: hours,
    closed_on: ['2026-12-25'],
  });
  assert.deepEqual(await api.get('/v1/branches').succeeds(), [read]);
  await api.get('/v1/branches?include_deleted=true').refuses(422, 'validation_failed');
});

test('branches page and filter like every list', async () => {
  const { api, newBranch, branch } = await dealership();
  const [hidden, shown] = [await newBranch(false), await newBranch(true)];
  const ids = async (query: string) => (await api.get(`/v1/branches?${query}`).succeeds()).map(({ id }: { id: string }) => id);
  assert.deepEqual(await ids('published=true'), [branch.id, shown.id]);
  assert.deepEqual(await ids('published=false'), [hidden.id]);
  assert.deepEqual(await ids(`branch_id=${hidden.id},${shown.id}`), [hidden.id, shown.id]);
  const first = await api.get('/v1/branches?limit=2');
  assert.deepEqual([first.body.data.length, first.body.meta.has_more], [2, true]);
  const second = await api.get(`/v1/branches?limit=2&cursor=${first.body.meta.next_cursor}`);
  assert.deepEqual([second.body.data.map(({ id }: { id: string }) => id), second.body.meta.next_cursor], [[shown.id], null]);
});

test('a publishable key sees published branches alone; a hidden one is as good as missing', async () => {
  const { apiWith, newBranch, branch } = await dealership();
  const hidden = await newBranch(false);
  const publishable = await apiWith({ kind: 'publishable' });
  assert.deepEqual(
    (await publishable.get('/v1/branches').succeeds()).map(({ id }: { id: string }) => id),
    [branch.id],
  );
  await publishable.get(`/v1/branches/${hidden.id}`).refuses(404, 'not_found');
});

test('a branch beyond the plan is refused; a higher plan has room', async () => {
  const dealer = await dealership({ plan: 'FREE' });
  await assert.rejects(createBranch(dealer.ctx, { name: 'North' }), { code: 'plan_not_entitled', required: { plan: 'STANDARD' } });
  await dealer.setPlan('PROFESSIONAL');
  for (const name of ['North', 'North', 'East', 'West']) await createBranch(dealer.ctx, { name });
  const { rows } = await dealer.service.pools.doors.query('select code from branch where dealer_id = $1 order by created_at', [dealer.id]);
  assert.deepEqual(
    rows.map(({ code }: { code: string }) => code),
    ['MAIN', 'NORTH', 'NORTH_2', 'EAST', 'WEST'],
  );
});

test('hiding a branch takes its cars off the website, and showing it brings them back', async () => {
  const { api, apiWith, ctx, branch } = await dealership();
  const { id } = await api
    .post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Focus', status: 'FOR_SALE', asking_price: 100_000 })
    .succeeds(201);
  const website = await apiWith({ kind: 'publishable' });
  await website.get(`/v1/vehicles/${id}`).succeeds();
  await changeBranch(ctx, branch.id, { published: false });
  await website.get(`/v1/vehicles/${id}`).refuses(404, 'not_found');
  const [left] = await website.get('/v1/vehicles?include_deleted=true').succeeds();
  assert.deepEqual([left.id, left.deleted], [id, true]);
  await changeBranch(ctx, branch.id, { published: true });
  await website.get(`/v1/vehicles/${id}`).succeeds();
});

test('a change is told in the activity log by its fields; a change of nothing is not and leaves updated_at', async () => {
  const dealer = await dealership();
  const before = await dealer.api.get(`/v1/branches/${dealer.branch.id}`).succeeds();
  await changeBranch(dealer.ctx, dealer.branch.id, { name: 'Main', phone: null });
  assert.deepEqual(await dealer.api.get(`/v1/branches/${dealer.branch.id}`).succeeds(), before);
  await changeBranch(dealer.ctx, dealer.branch.id, { name: 'Head office' });
  assert.deepEqual((await activityOf(dealer, 'branch')).at(-1), { action: 'updated', fields: ['name'] });
  assert.equal((await activityOf(dealer, 'branch')).length, 2);

  await setDealer(dealer.ctx, { plan: 'PROFESSIONAL', themeBuilder: true });
  assert.deepEqual((await activityOf(dealer, 'dealer')).at(-1), { action: 'updated', fields: ['themeBuilder'] });
  assert.equal((await dealer.api.get('/v1/me').succeeds()).features.theme_builder, true);
});

test('two dealerships cannot have one code, and codes, currencies and time zones are checked', async () => {
  const { service, code } = await dealership();
  const refused = (input: object, field: string) =>
    assert.rejects(
      createDealer(service, { name: 'Test Motors', code: 'new-one', plan: 'FREE', ...input }),
      (refusal: { fields?: object }) => Object.keys(refusal.fields ?? {}).includes(field),
    );
  await refused({ code }, 'code');
  await refused({ code: code.toUpperCase() }, 'code');
  await refused({ code: '-x' }, 'code');
  await refused({ currency: 'XQQ' }, 'currency');
  await refused({ timeZone: 'Mars/Olympus' }, 'timeZone');
  const made = await createDealer(service, {
    name: 'Test Motors',
    code: 'euro-1',
    plan: 'FREE',
    currency: 'eur',
    timeZone: 'Europe/Dublin',
  });
  assert.deepEqual([made.code, made.branches.length], ['euro-1', 1]);
});
