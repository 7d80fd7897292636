import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { speak } from '../../../test/support/api.ts';
import { dealership, house } from '../../../test/support/dealership.ts';
import { masterKeys, silentLog } from '../../../test/support/fixtures.ts';
import { listen } from '../../app/api.ts';
import { readConfig } from '../../app/config.ts';
import { startWorker } from '../../app/worker.ts';

interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the tool as an operator does. */
async function admin(words: readonly string[], env: Record<string, string> = {}): Promise<Said> {
  const { databaseUrl } = await house();
  const variables = { DATABASE_URL: databaseUrl, MASTER_KEY: masterKeys[0]!.toString('base64'), LOG_LEVEL: 'silent', ...env };
  const tool = spawn(process.execPath, [new URL('../admin.ts', import.meta.url).pathname, ...words], {
    env: { ...process.env, ...variables },
  });
  const ended = new Promise<number | null>((resolve) => tool.once('exit', resolve));
  const [out, err, code] = await Promise.all([text(tool.stdout), text(tool.stderr), ended]);
  return { code, out, err };
}

/** The one JSON object a command prints. */
async function result(...words: string[]) {
  const { code, out, err } = await admin([...words, '--json']);
  assert.deepEqual([code, err], [0, '']);
  assert.equal(out.trimEnd().split('\n').length, 1);
  return JSON.parse(out);
}

async function refused(words: readonly string[], code: number, line: string | RegExp, env: Record<string, string> = {}): Promise<void> {
  const said = await admin(words, env);
  assert.deepEqual([said.code, said.out], [code, ''], said.err);
  assert.equal(said.err.trimEnd().split('\n').length, 1, said.err);
  if (typeof line === 'string') assert.equal(said.err.trimEnd(), line);
  else assert.match(said.err, line);
}

test('an app is registered and revoked from a shell; its secret is shown once, and its addresses are taken one by one', async () => {
  const asked = ['--name', 'Ad Planner', '--website', 'https://adplanner.example', '--scopes', 'vehicles:read, enquiries:read'];
  const addresses = ['--redirect-uri', 'https://adplanner.example/callback?x=1,2', '--redirect-uri', 'http://127.0.0.1:8000/callback'];
  const made = await result('app', 'register', ...asked, ...addresses);
  assert.deepEqual(Object.keys(made), ['client_id', 'client_secret']);
  const { service } = await house();
  const { rows } = await service.pools.doors.query('select redirect_uris, scopes from oauth_app where client_id = $1', [made.client_id]);
  assert.deepEqual(rows[0], {
    redirect_uris: ['https://adplanner.example/callback?x=1,2', 'http://127.0.0.1:8000/callback'],
    scopes: ['vehicles:read', 'enquiries:read'],
  });
  await refused(['app', 'register', ...asked], 2, 'Missing: --redirect-uri U.');
  await refused(['app', 'register', ...asked, '--redirect-uri', 'http://adplanner.example'], 1, /^--redirect-uri: An https address, /);
  assert.deepEqual(await result('app', 'revoke', '--client-id', made.client_id), { authorisations: 0 });
  assert.deepEqual(
    await result('app', 'revoke', '--client-id', made.client_id),
    { authorisations: 0 },
    'what is left of an end that was broken off',
  );
  await refused(['app', 'revoke', '--client-id', 'nobodys'], 1, 'There is no app with this client id.');
});

test('a dealership, its branch, staff and key are made and changed from a shell, and count for the next request', async () => {
  const { app } = await house();
  const made = await result('dealer', 'create', '--name', 'Shell Motors', '--code', 'Shell', '--plan', 'STANDARD');
  assert.deepEqual([made.code, made.branches.map(({ name }: { name: string }) => name)], ['shell', ['Main']]);
  const branch = await result('branch', 'create', '--dealer', 'shell', '--name', 'North', '--published', 'off');
  assert.deepEqual(Object.keys(branch), ['id']);
  const member = ['--name', 'A Member', '--role', 'SALES_MANAGER', '--password', 'correct horse'];
  const user = await result('user', 'create', '--dealer', 'shell', '--email', 'm@shell.example', ...member);
  const key = await result(
    'key',
    'create',
    '--dealer',
    'shell',
    '--owner',
    'm@shell.example',
    '--name',
    'K',
    '--kind',
    'secret',
    '--env',
    'live',
  );

  const api = speak(app, key.key);
  const me = await api.get('/v1/me').succeeds();
  assert.deepEqual([me.dealer_code, me.owner.id, me.key.id, me.branches.length], ['shell', user.id, key.id, 2]);
  assert.deepEqual(await result('dealer', 'set', '--dealer', 'shell', '--theme-builder', 'on'), {
    ...made,
    branches: [...made.branches, { id: branch.id, name: 'North' }],
  });
  assert.equal((await api.get('/v1/me').succeeds()).features.theme_builder, true);

  await result('user', 'set', '--dealer', 'shell', '--email', 'm@shell.example', '--without', 'STOCK_VIEW');
  await api.get('/v1/vehicles').refuses(403, 'scope_not_permitted_for_owner');
  await result('user', 'set', '--dealer', 'shell', '--email', 'm@shell.example', '--with', 'STOCK_VIEW', '--branches', branch.id);
  await api.get('/v1/vehicles').succeeds();
  assert.deepEqual((await api.get('/v1/me').succeeds()).key.branch_ids, [branch.id]);

  await result('key', 'set', '--id', key.id, '--rate-limit', '300');
  assert.equal((await api.get('/v1/me').succeeds()).limits.rate_limit_per_minute, 300);
  const rolled = await result('key', 'roll', '--id', key.id);
  assert.equal(rolled.id, key.id);
  await api.get('/v1/me').refuses(401, 'api_key_revoked');
  await api.as(rolled.key).get('/v1/me').succeeds();
  assert.deepEqual(await result('key', 'revoke', '--id', key.id), { id: key.id });
  await api.as(rolled.key).get('/v1/me').refuses(401, 'api_key_revoked');
});

test('the sandbox is switched off and on from a shell', async () => {
  const { apiWith } = await dealership();
  const api = await apiWith({ environment: 'test' });
  await result('dealer', 'set', '--dealer', 'sandbox', '--available', 'off');
  await api.get('/v1/me').refuses(401, 'sandbox_unavailable');
  await result('dealer', 'set', '--dealer', 'sandbox', '--available', 'on');
  await api.get('/v1/me').succeeds();
});

test('demo create makes the dealer once and issues fresh keys each time', async () => {
  const { app } = await house();
  const [first, second] = [await result('demo', 'create', '--vehicles', '16'), await result('demo', 'create')];
  assert.deepEqual(Object.keys(first).sort(), ['dealer', 'publishable_key', 'secret_key', 'sign_in']);
  assert.equal(new Set([first.secret_key, first.publishable_key, second.secret_key, second.publishable_key]).size, 4);
  const me = await speak(app, first.secret_key).get('/v1/me').succeeds();
  assert.deepEqual([me.dealer_code, me.plan.code, me.features.theme_builder, me.branches.length], ['demo', 'PROFESSIONAL', true, 2]);
  const vehicles = await speak(app, second.secret_key).get('/v1/vehicles?limit=100').succeeds();
  assert.equal(vehicles.length, 16);
  assert.equal(new Set(vehicles.map(({ status }: { status: string }) => status)).size, 8);
  assert.ok((await speak(app, second.publishable_key).get('/v1/vehicles').succeeds()).length > 0);
});

test('what cannot be done is told in one line, without a stack', async () => {
  const { code, owner } = await dealership({ plan: 'FREE' });
  await refused(['car', 'wash'], 2, 'There is no "car". There are: dealer, branch, user, key, app, demo, import.');
  await refused(['dealer', 'set', '--dealer', 'nobody'], 1, 'There is no dealership with the code "nobody".');
  await refused(['dealer', 'set', '--dealer', code, '--available', 'off'], 1, '--available: Only the sandbox can be switched on and off.');
  await refused(['branch', 'create', '--dealer', code, '--name', 'North'], 1, 'The plan Free has room for one branch.');
  const key = ['key', 'create', '--dealer', code, '--name', 'K', '--env', 'live'];
  await refused([...key, '--owner', owner.email, '--kind', 'publishable'], 1, '--origins: A publishable key needs at least one origin.');
  await refused([...key, '--owner', 'x@y.example', '--kind', 'secret'], 1, 'No member of staff has the e-mail address "x@y.example".');
  await refused(['key', 'roll', '--id', 'x'], 2, '--id takes the id of a key, not "x".');
  await refused(['key', 'revoke', '--id', '00000000-0000-4000-8000-000000000000'], 1, 'There is no key with this id.');
  const weak = ['--email', 'nobody', '--name', 'N', '--role', 'TECHNICIAN', '--password', 'short'];
  await refused(['user', 'create', '--dealer', code, ...weak], 1, '--email: Not an e-mail address. --password: At least 8 characters.');
});

test('where nothing runs, the tool says so', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-'));
  t.after(() => rmSync(folder, { recursive: true }));
  await refused(['demo', 'create'], 1, /^Nothing runs on .*npm start/, { DATABASE_URL: '', DATA_DIR: folder });
  await refused(['demo', 'create'], 1, /ECONNREFUSED/, { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
  await refused(['demo', 'create'], 1, /^MASTER_KEY must be/, { MASTER_KEY: 'short' });
});

const header = 'make,model,year,price_gbp,transmission,mileage,fuel_type,tax_gbp,mpg,engine_size_litres';
const lines = Array.from({ length: 1_203 }, (_, n) => {
  const fuel = ['Petrol', 'Diesel', 'Hybrid', 'Other'][n % 4];
  const year = n === 700 ? 2999 : 2001 + (n % 20);
  return `Ford,Model ${n},${year},${5_000 + n},${n % 3 === 0 ? 'Semi-Auto' : 'Manual'},${n * 10},${fuel},150,55.4,1.4`;
});

test('listings are imported once, however often; the second time nothing is new and nothing is told', async (t) => {
  const { databaseUrl, app } = await house();
  const { id, api, code, service } = await dealership();
  const worker = await startWorker(readConfig({ DATABASE_URL: databaseUrl }), databaseUrl, masterKeys, silentLog);
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-'));
  t.after(async () => {
    await worker.close();
    rmSync(folder, { recursive: true });
  });
  const [plain, packed] = [join(folder, 'cars.csv'), join(folder, 'cars.csv.gz')];
  // A byte order mark and Windows line ends, as spreadsheets write them.
  writeFileSync(plain, `\ufeff${[header, ...lines].join('\r\n')}\r\n`);
  writeFileSync(packed, gzipSync([header, ...lines].join('\n')));
  const address = await listen(app, '127.0.0.1', 0);
  const words = (file: string) => ['import', 'listings', '--dealer', code, '--file', file, '--api', address, '--key', api.key!, '--json'];
  const events = async () =>
    (await service.pools.doors.query("select count(*)::int as n from event where dealer_id = $1 and type like 'vehicle.%'", [id])).rows[0]
      .n;

  const first = await admin(words(plain));
  assert.equal(first.code, 0, first.err);
  const { seconds, ...counts } = JSON.parse(first.out);
  assert.ok(seconds > 0);
  assert.deepEqual(counts, {
    created: 1_203,
    updated: 0,
    failed: 0,
    adjusted: { transmission_semi_auto: 401, fuel_type_hybrid: 301, fuel_type_other: 300, year_after_next_year: 1 },
  });
  assert.match(first.err, /^Warning: cars\.csv:701: the year 2999 lies after next year and was dropped\.$/m);
  const [car] = await api.get('/v1/vehicles?external_id=cars.csv:701').succeeds();
  assert.deepEqual(
    [car.year_of_manufacture, car.status, car.asking_price.amount, car.metadata],
    [null, 'FOR_SALE', 570_000, { tax_gbp: '150' }],
  );
  assert.equal(await events(), 1_203);

  const { seconds: _again, ...again } = JSON.parse((await admin(words(packed))).out);
  assert.deepEqual(again, { ...counts, created: 0, updated: 1_203 });
  assert.equal(await events(), 1_203);

  await refused(words(join(folder, 'none.csv')), 1, `There is no file ${join(folder, 'none.csv')}.`);
  writeFileSync(plain, 'make,model\nFord,Focus\n');
  await refused(words(plain), 1, /lacks the columns year, price_gbp/);
  await refused(
    words(packed).map((word) => (word === code ? 'other' : word)),
    1,
    /^The key opens the dealership /,
  );
});
