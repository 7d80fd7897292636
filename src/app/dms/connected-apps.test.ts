import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { speak } from '../../../test/support/api.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { formIn, visitor } from '../../../test/support/dms.ts';
import { connected, refresh } from '../../../test/support/oauth.ts';

const path = '/administration/developers/connected-apps';

test('an administrator sees which apps are connected, what they may do, who approved it and when it was used', async () => {
  const dealer = await dealership();
  const browser = visitor(dealer.service);
  await browser.signIn({ dealerCode: dealer.code, email: dealer.owner.email });
  assert.match((await browser.get(path)).text, /No app is connected\./);
  await connected(dealer, { scopes: ['vehicles:read', 'customers:read'] });
  const { text } = await browser.get(path);
  for (const shown of ['Partner', 'https://partner.example', 'A Member', 'Never', 'See vehicles with their prices', 'See customers'])
    assert.ok(text.includes(shown), shown);
  assert.equal(text.match(/Customers’ personal data/g)?.length, 1);
});

test('the dealer disconnects an app: its next request is refused, and refresh fails', async () => {
  const dealer = await dealership();
  const [one, other] = [await connected(dealer), await connected(dealer)];
  const browser = visitor(dealer.service);
  await browser.signIn({ dealerCode: dealer.code, email: dealer.owner.email });
  // The newest first.
  const done = await browser.fill(await browser.get(path), `${path}/disconnect`);
  assert.deepEqual([done.status, done.leadsTo], [303, `${path}?disconnected`]);
  assert.match((await browser.get(done.leadsTo ?? '')).text, /The app is disconnected/);
  await speak(dealer.app, other.access).get('/v1/me').refuses(401, 'api_key_revoked');
  assert.equal((await refresh(dealer, other.partner, other.refreshToken)).body.error, 'invalid_grant');
  await speak(dealer.app, one.access).get('/v1/me').succeeds();
});

test('only administrators look after connected apps', async () => {
  const dealer = await dealership();
  const { access } = await connected(dealer);
  const boss = visitor(dealer.service);
  await boss.signIn({ dealerCode: dealer.code, email: dealer.owner.email });
  const form = formIn((await boss.get(path)).text, `${path}/disconnect`);
  const browser = visitor(dealer.service);
  await browser.signIn({ dealerCode: dealer.code, email: (await dealer.newUser({ role: 'SALES_MANAGER' })).email });
  const home = await browser.get('/');
  assert.ok(!home.text.includes('Connected apps'));
  const page = await browser.get(path);
  assert.deepEqual([page.status, page.text.includes('Partner')], [403, false]);
  form.set('form', formIn(home.text, '/sign-out').get('form') ?? '');
  assert.equal((await browser.post(`${path}/disconnect`, form)).status, 403);
  await speak(dealer.app, access).get('/v1/me').succeeds();
});

test('the app of another dealer does not exist, nor does one nobody has', async () => {
  const [dealer, other] = [await dealership(), await dealership()];
  const { access } = await connected(other);
  const boss = visitor(dealer.service);
  await boss.signIn({ dealerCode: dealer.code, email: dealer.owner.email });
  const theirs = visitor(dealer.service);
  await theirs.signIn({ dealerCode: other.code, email: other.owner.email });
  const foreign = formIn((await theirs.get(path)).text, `${path}/disconnect`).get('id') ?? '';
  const form = formIn((await boss.get('/')).text, '/sign-out').get('form') ?? '';
  const answers = [];
  for (const id of [foreign, randomUUID(), 'x', '']) {
    const { status, text } = await boss.post(`${path}/disconnect`, { form, id });
    answers.push(text);
    assert.equal(status, 404, id);
  }
  assert.equal(new Set(answers).size, 1);
  await speak(dealer.app, access).get('/v1/me').succeeds();
});

test('what an app calls itself is shown as the text it is', async () => {
  const dealer = await dealership();
  await dealer.service.pools.doors.query("update oauth_app set name = '<script>alert(1)</script>'");
  await connected(dealer);
  await dealer.service.pools.doors.query("update oauth_app set name = '<script>alert(1)</script>'");
  const browser = visitor(dealer.service);
  await browser.signIn({ dealerCode: dealer.code, email: dealer.owner.email });
  const { text } = await browser.get(path);
  assert.ok(text.includes('&lt;script&gt;') && !text.includes('<script'));
});
