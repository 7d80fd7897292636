import assert from 'node:assert/strict';
import { argon2Sync, randomBytes } from 'node:crypto';
import { afterEach, test } from 'node:test';
import { createVehicle } from '#modules/vehicles/index.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import type { NotSignedIn, SignedIn } from './index.ts';
import { contextOf, createUser, proveAgain, sessionOf, setUser, signIn, signOut } from './index.ts';
import { deleteOldSessions } from './session-queries.ts';

const wrong = { refused: 'wrong' };
let lastAddress = 0;
/** One that nobody has tried from. */
const address = () => `198.51.${++lastAddress >> 8}.${lastAddress & 255}`;

afterEach(async () => (await dealership()).clock.release());

type Given = Partial<Parameters<typeof signIn>[1]>;

const enter = ({ service, code, owner }: Dealership, given: Given = {}) =>
  signIn(service, { dealerCode: code, email: owner.email, password: 'correct horse', address: address(), device: null, ...given });

function entered(outcome: SignedIn | NotSignedIn): SignedIn {
  assert.ok('token' in outcome, JSON.stringify(outcome));
  return outcome;
}

const isOver = async ({ service }: Dealership, { token }: SignedIn) => (await sessionOf(service, token)) === null;

test('a member of staff signs in with dealer code, e-mail address and password, however the first two are spelled', async () => {
  const dealer = await dealership();
  const { code, owner, id, service } = dealer;
  const { token, session } = entered(await enter(dealer, { dealerCode: ` ${code.toUpperCase()}`, email: `${owner.email.toUpperCase()} ` }));
  assert.deepEqual(
    [session.user.id, session.user.role, session.dealer.id, session.dealer.name, session.plan, session.branches],
    [owner.id, 'ADMINISTRATOR', id, 'Test Motors', 'PROFESSIONAL', 'all'],
  );
  assert.deepEqual((await sessionOf(service, token))?.user, session.user);
});

test('of a session the hash of its token is kept and nothing else of it', async () => {
  const dealer = await dealership();
  const { token } = entered(await enter(dealer));
  assert.match(token, /^dms_[0-9A-Za-z]{43}$/);
  const { rows } = await dealer.service.pools.doors.query('select s::text as row from staff_session s where dealer_id = $1', [dealer.id]);
  assert.equal(rows.length, 1);
  assert.ok(!rows[0].row.includes(token.slice(4)));
  for (const other of ['', 'dms_', token.slice(0, -1), `${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`, 'x'.repeat(47)])
    assert.equal(await sessionOf(dealer.service, other), null);
});

test('whatever is wrong, the same is told: dealer, e-mail address, password, somebody banned or deleted, the sandbox', async () => {
  const dealer = await dealership();
  const [banned, deleted] = [await dealer.newUser(), await dealer.newUser()];
  await setUser(dealer.ctx, banned.email, { status: 'banned' });
  await setUser(dealer.ctx, deleted.email, { status: 'deleted' });
  const other = await dealership();
  for (const given of [
    ...[{ dealerCode: 'nobody-here' }, { dealerCode: '' }, { dealerCode: 'a\u0000b' }, { dealerCode: other.code }],
    ...[{ email: 'nobody@example.com' }, { email: '' }, { email: `${'a'.repeat(300)}@example.com` }, { email: 'a\u0000@example.com' }],
    ...[{ password: 'correct hors' }, { password: '' }, { password: 'x'.repeat(10_000) }, { password: '\u0000' }],
    ...[{ email: banned.email }, { email: deleted.email }, { dealerCode: 'sandbox', email: 'sandbox@sandbox.example' }],
  ])
    assert.deepEqual(await enter(dealer, given), wrong, JSON.stringify(given));
});

test('the same e-mail address at another dealership is another member of staff', async () => {
  const [one, other] = [await dealership(), await dealership()];
  await createUser(other.ctx, { email: one.owner.email, name: 'Namesake', role: 'READ_ONLY', password: 'another horse' });
  assert.deepEqual(await enter(other, { email: one.owner.email }), wrong);
  const { session } = entered(await enter(other, { email: one.owner.email, password: 'another horse' }));
  assert.deepEqual([session.dealer.id, session.user.name], [other.id, 'Namesake']);
  assert.equal(entered(await enter(one)).session.user.id, one.owner.id);
});

test('permissions, branches and plan of a session are those of this moment', async () => {
  const dealer = await dealership();
  const { email } = await dealer.newUser({ role: 'SALES_MANAGER' });
  const { token } = entered(await enter(dealer, { email }));
  await setUser(dealer.ctx, email, { without: ['STOCK_EDIT'], branches: [dealer.branch.id] });
  await dealer.setPlan('FREE');
  const session = await sessionOf(dealer.service, token);
  assert.ok(session);
  assert.deepEqual(
    [session.permissions.includes('STOCK_EDIT'), session.permissions.includes('STOCK_VIEW'), session.branches, session.plan],
    [false, true, [dealer.branch.id], 'FREE'],
  );
  const { caller } = contextOf(dealer.service, session, null);
  assert.deepEqual(
    [caller.kind, caller.id, caller.scopes.includes('vehicles:read'), caller.scopes.includes('vehicles:write'), caller.branches],
    ['user', session.user.id, true, false, [dealer.branch.id]],
  );
});

test('what a member of staff does is told as theirs', async () => {
  const dealer = await dealership();
  const { session } = entered(await enter(dealer));
  await createVehicle(contextOf(dealer.service, session, null), { condition: 'USED', make: 'Ford', model: 'Focus' } as never);
  const { data } = (await dealer.api.get('/v1/events?type=vehicle.created')).body;
  assert.deepEqual(data[0].actor, { kind: 'user', id: dealer.owner.id, name: 'A Member' });
});

test('a session is over when its member of staff signs out, and no other with it', async () => {
  const dealer = await dealership();
  const [one, other] = [entered(await enter(dealer)), entered(await enter(dealer))];
  await signOut(dealer.service, one.token);
  assert.deepEqual([await isOver(dealer, one), await isOver(dealer, other)], [true, false]);
});

for (const [ends, change] of [
  ['a ban', { status: 'banned' }],
  ['a deletion', { status: 'deleted' }],
  ['another password', { password: 'battery staple' }],
] as const)
  test(`${ends} ends every session, and it stays over`, async () => {
    const dealer = await dealership();
    const { email } = await dealer.newUser();
    const [one, other, colleague] = [
      entered(await enter(dealer, { email })),
      entered(await enter(dealer, { email })),
      entered(await enter(dealer)),
    ];
    await setUser(dealer.ctx, email, change);
    assert.deepEqual([await isOver(dealer, one), await isOver(dealer, other), await isOver(dealer, colleague)], [true, true, false]);
    await setUser(dealer.ctx, email, { status: 'active' });
    assert.ok(await isOver(dealer, one));
  });

test('another password counts from the next sign-in on, and the one before no more', async () => {
  const dealer = await dealership();
  await setUser(dealer.ctx, dealer.owner.email, { password: 'battery staple' });
  assert.deepEqual(await enter(dealer), wrong);
  entered(await enter(dealer, { password: 'battery staple' }));
});

test('who signs in with the old password while it is changed has no session afterwards', async () => {
  const dealer = await dealership();
  for (let round = 0; round < 8; round++) {
    const [old, next] = [round === 0 ? 'correct horse' : `password ${round}`, `password ${round + 1}`];
    const [outcomes] = await Promise.all([
      Promise.all([1, 2, 3].map(() => enter(dealer, { password: old }))),
      setUser(dealer.ctx, dealer.owner.email, { password: next }),
    ]);
    for (const outcome of outcomes) assert.ok('refused' in outcome || (await isOver(dealer, outcome)));
  }
});

test('a session that is not used for eight hours is over, and one that is used lasts for a week', async () => {
  const dealer = await dealership();
  dealer.clock.move({ seconds: 0 });
  const [left, used] = [entered(await enter(dealer)), entered(await enter(dealer))];
  dealer.clock.move({ hours: 7 });
  assert.ok(!(await isOver(dealer, used)));
  dealer.clock.move({ hours: 2 });
  assert.deepEqual([await isOver(dealer, left), await isOver(dealer, used)], [true, false]);
  for (let hours = 9; hours < 7 * 24 - 6; hours += 6) {
    dealer.clock.move({ hours: 6 });
    assert.ok(!(await isOver(dealer, used)), `after ${hours + 6} hours`);
  }
  dealer.clock.move({ hours: 6 });
  assert.ok(await isOver(dealer, used));
  await deleteOldSessions(dealer.service);
  const { rows } = await dealer.service.pools.doors.query('select from staff_session where dealer_id = $1', [dealer.id]);
  assert.equal(rows.length, 0);
});

test('who says once more who they are goes on under another token', async () => {
  const dealer = await dealership();
  dealer.clock.move({ seconds: 0 });
  const before = entered(await enter(dealer));
  dealer.clock.move({ minutes: 31 });
  const say = (password: string, token = before.token) => proveAgain(dealer.service, token, { password, address: address(), device: null });
  assert.deepEqual(await say('correct hors'), wrong);
  const proof = await say('correct horse');
  assert.ok('token' in proof);
  const session = await sessionOf(dealer.service, proof.token);
  assert.deepEqual([session?.id, session?.provedAt], [before.session.id, session?.now]);
  assert.ok(await isOver(dealer, before));
  assert.deepEqual(await say('correct horse'), { refused: 'overtaken' });
});

// ---- Guessing ----

test('after five wrong passwords from an address nothing is tried from there for a quarter of an hour, and elsewhere it is', async () => {
  const dealer = await dealership();
  dealer.clock.move({ seconds: 0 });
  const from = address();
  for (let n = 0; n < 5; n++) assert.deepEqual(await enter(dealer, { address: from, password: `guess ${n}` }), wrong);
  assert.deepEqual(await enter(dealer, { address: from }), { refused: 'too_many', waitSeconds: 900 });
  entered(await enter(dealer));
  dealer.clock.move({ minutes: 14 });
  assert.deepEqual(await enter(dealer, { address: from }), { refused: 'too_many', waitSeconds: 60 });
  dealer.clock.move({ minutes: 1 });
  entered(await enter(dealer, { address: from }));
});

test('who signs in rightly, however often, is never made to wait', async () => {
  const dealer = await dealership();
  const from = address();
  for (let n = 0; n < 12; n++) entered(await enter(dealer, { address: from }));
});

test('many guesses at once are no more than one after the other', async () => {
  const dealer = await dealership();
  const from = address();
  const outcomes = await Promise.all(Array.from({ length: 40 }, (_, n) => enter(dealer, { address: from, password: `guess ${n}` })));
  assert.equal(outcomes.filter((outcome) => 'refused' in outcome && outcome.refused === 'wrong').length, 5);
});

test('an account that does not exist is counted like any other', async () => {
  const dealer = await dealership();
  const from = address();
  const guess = () => enter(dealer, { address: from, email: 'nobody@example.com' });
  for (let n = 0; n < 5; n++) assert.deepEqual(await guess(), wrong);
  const refused = await guess();
  assert.equal('refused' in refused && refused.refused, 'too_many');
});

test('many addresses together have few guesses; a browser that was signed in on before has its own', async () => {
  const dealer = await dealership();
  const { device } = entered(await enter(dealer));
  const colleague = await dealer.newUser();
  for (let n = 0; n < 25; n++) assert.deepEqual(await enter(dealer, { password: `guess ${n}` }), wrong);
  const isMadeToWait = async (given: Given) => {
    const outcome = await enter(dealer, given);
    return 'refused' in outcome && outcome.refused === 'too_many';
  };
  assert.ok(await isMadeToWait({}));
  entered(await enter(dealer, { device }));
  entered(await enter(dealer, { email: colleague.email }));

  const { device: theirs } = entered(await enter(dealer, { email: colleague.email }));
  const altered = `${device.slice(0, -1)}${device.endsWith('A') ? 'B' : 'A'}`;
  for (const other of [theirs, altered, 'x', 'x.y', '']) assert.ok(await isMadeToWait({ device: other }), other);
});

test('a browser that several were signed in on is known to all of them', async () => {
  const dealer = await dealership();
  const colleague = await dealer.newUser();
  const { device } = entered(await enter(dealer));
  const { device: shared } = entered(await enter(dealer, { email: colleague.email, device }));
  for (let n = 0; n < 25; n++) await enter(dealer, { password: `guess ${n}` });
  entered(await enter(dealer, { device: shared }));
  entered(await enter(dealer, { device: shared, email: colleague.email }));
});

test('a browser that was signed in on before has ten guesses', async () => {
  const dealer = await dealership();
  const { device } = entered(await enter(dealer));
  for (let n = 0; n < 10; n++) assert.deepEqual(await enter(dealer, { device, password: `guess ${n}` }), wrong);
  const refused = await enter(dealer, { device });
  assert.equal('refused' in refused && refused.refused, 'too_many');
});

test('one address cannot use up the guesses of all: what it is refused is no attempt at the account', async () => {
  const dealer = await dealership();
  const from = address();
  for (let n = 0; n < 40; n++) await enter(dealer, { address: from, password: `guess ${n}` });
  entered(await enter(dealer));
});

test('one address may try few accounts', async () => {
  const dealer = await dealership();
  const from = address();
  for (let n = 0; n < 60; n++)
    assert.deepEqual(await enter(dealer, { address: from, email: `${n}@example.com`, password: 'password' }), wrong);
  const refused = await enter(dealer, { address: from, email: '60@example.com' });
  assert.equal('refused' in refused && refused.refused, 'too_many');
});

test('what is refused to an address leaves nothing behind, however many accounts it tries', async () => {
  const dealer = await dealership();
  const from = address();
  const rows = async () =>
    (await dealer.service.pools.doors.query('select from allowance where subject like $1', [`%:from:${from}`])).rowCount;
  for (let n = 0; n < 70; n++) await enter(dealer, { address: from, email: `${n}@example.com` });
  assert.equal(await rows(), 61);
});

test('sign-ins and guesses at once, from one address and at one account, do not wait for each other for ever', async () => {
  const dealer = await dealership();
  const from = address();
  const outcomes = await Promise.all(
    Array.from({ length: 60 }, (_, n) => enter(dealer, { address: n % 2 ? from : address(), ...(n % 3 && { password: 'guess' }) })),
  );
  assert.equal(outcomes.length, 60);
});

test('addresses of one IPv6 network count as one', async () => {
  const dealer = await dealership();
  for (let n = 0; n < 5; n++) assert.deepEqual(await enter(dealer, { address: `2001:db8:7:7::${n}`, password: 'guess' }), wrong);
  const refused = await enter(dealer, { address: '2001:db8:7:7:ffff::1' });
  assert.equal('refused' in refused && refused.refused, 'too_many');
});

test('nothing that was typed is kept with what is counted', async () => {
  const dealer = await dealership();
  await enter(dealer, { email: 'my-secret-password@example.com' });
  const { rows } = await dealer.service.pools.doors.query(
    "select subject from allowance where subject like '%secret%' or subject like $1",
    [`%${dealer.code}%`],
  );
  assert.deepEqual(rows, []);
});

test('a password that was kept at another cost is kept at today’s after a sign-in', async () => {
  const dealer = await dealership();
  const nonce = randomBytes(16);
  const tag = argon2Sync('argon2id', { message: 'correct horse', nonce, tagLength: 32, memory: 4096, passes: 3, parallelism: 1 });
  const bare = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  const kept = async () =>
    (await dealer.service.pools.doors.query('select password_hash from staff where id = $1', [dealer.owner.id])).rows[0].password_hash;
  await dealer.service.pools.doors.query('update staff set password_hash = $1 where id = $2', [
    `$argon2id$v=19$m=4096,t=3,p=1$${bare(nonce)}$${bare(tag)}`,
    dealer.owner.id,
  ]);
  assert.deepEqual(await enter(dealer, { password: 'correct hors' }), wrong);
  assert.match(await kept(), /m=4096/);
  const first = entered(await enter(dealer));
  assert.match(await kept(), /\$m=19456,t=2,p=1\$/);
  assert.ok(!(await isOver(dealer, first)));
  entered(await enter(dealer));
});

test('who has no password does not sign in', async () => {
  const dealer = await dealership();
  for (const none of [null, '', 'correct horse', '$argon2id$']) {
    await dealer.service.pools.doors.query('update staff set password_hash = $1 where id = $2', [none, dealer.owner.id]);
    assert.deepEqual(await enter(dealer), wrong);
  }
});
