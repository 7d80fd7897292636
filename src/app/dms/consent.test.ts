import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { registerApp, revokeApp } from '#modules/oauth/index.ts';
import { scopeCatalogue } from '#modules/staff/contract.ts';
import { setUser } from '#modules/staff/index.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import type { Visitor } from '../../../test/support/dms.ts';
import { formIn, visitor, walkConsent } from '../../../test/support/dms.ts';
import { authorizeQuery, exchangeCode, proof, say } from '../../../test/support/oauth.ts';

const callback = 'https://partner.example/callback?kept=1';
const scopes = ['vehicles:read', 'vehicles:costs', 'customers:read', 'workshop:write'] as const;

afterEach(async () => (await dealership()).clock.release());

type Asked = { name?: string; logo?: string | null; redirectUri?: string; scopes?: readonly string[]; state?: string };

/** An app that has sent somebody to the consent page. */
async function asked({ app, service }: Dealership, { name = 'Partner', logo = null, redirectUri = callback, ...rest }: Asked = {}) {
  const wanted = [...(rest.scopes ?? scopes)];
  const made = await registerApp(service, { name, website: 'https://partner.example/', logo, redirectUris: [redirectUri], scopes: wanted });
  const partner = { ...made, redirectUri };
  const { verifier, challenge } = proof();
  const query = authorizeQuery(partner, challenge, { scope: wanted.join(' '), state: rest.state ?? 'a state' });
  const { headers } = await say(app, { method: 'GET', url: query });
  const address = new URL(headers.location ?? '');
  return { partner, verifier, address: address.href, path: address.pathname + address.search };
}

/** The consent page before a member of staff who is signed in. */
async function opened(dealer: Dealership, path: string, email = dealer.owner.email) {
  const browser = visitor(dealer.service);
  await browser.signIn({ dealerCode: dealer.code, email });
  return { browser, page: await browser.get(path) };
}

const decide = (browser: Visitor, page: Awaited<ReturnType<Visitor['get']>>, filled: Record<string, string | string[] | undefined>) =>
  browser.fill(page, '/oauth/consent', filled);

const told = (address: string | null) => Object.fromEntries(new URL(address ?? '').searchParams);

test('the dealer signs in, sees who asks for what, approves, and is led back to the app with a code and the state', async () => {
  const dealer = await dealership();
  const { partner, verifier, address } = await asked(dealer, { state: 'kept &=/ü' });
  const back = await walkConsent(dealer.service, address, { dealerCode: dealer.code, email: dealer.owner.email });
  assert.ok(back.startsWith(`${callback}&`), back);
  const { code = '', state, iss } = told(back);
  assert.deepEqual([state, iss], ['kept &=/ü', 'http://127.0.0.1:4000']);
  const { status, body } = await exchangeCode(dealer, { partner, verifier, code });
  assert.deepEqual([status, body.scope], [200, scopes.join(' ')]);
});

test('declining leads back with access_denied and the state', async () => {
  const dealer = await dealership();
  const { address } = await asked(dealer);
  const back = await walkConsent(dealer.service, address, { dealerCode: dealer.code, email: dealer.owner.email }, { decision: 'decline' });
  const { error, state, code } = told(back);
  assert.deepEqual([error, state, code], ['access_denied', 'a state', undefined]);
});

test('the page names the app and each scope in words, and marks those that reach customers’ personal data', async () => {
  const dealer = await dealership();
  const { path } = await asked(dealer, { name: 'Stock & <script>Sons</script>' });
  const { page } = await opened(dealer, path);
  assert.equal(page.status, 200);
  assert.ok(page.text.includes('Stock &amp; &lt;script&gt;Sons&lt;/script&gt; wants to connect to Test Motors'));
  assert.ok(!page.text.includes('<script'));
  assert.match(page.text, /<a href="https:\/\/partner\.example\/"/);
  assert.match(page.text, new RegExp(`Signed in as A Member \\(${dealer.owner.email}\\)`));
  for (const scope of scopes) {
    const row = rowOf(page.text, scope);
    assert.ok(row.includes(`>${scopeCatalogue[scope].words}</label>`), row);
    assert.equal(row.includes('Customers’ personal data'), scopeCatalogue[scope].personalData, scope);
    assert.match(row, / checked/);
  }
});

test('scopes the role does not allow are shown unticked, cannot be ticked, and say why', async () => {
  const dealer = await dealership();
  const { partner, verifier, path } = await asked(dealer);
  const { email } = await dealer.newUser({ role: 'SALES_EXECUTIVE' });
  const { browser, page } = await opened(dealer, path, email);
  for (const [scope, isAllowed] of [
    ['vehicles:read', true],
    ['vehicles:costs', false],
    ['customers:read', true],
    ['workshop:write', false],
  ] as const) {
    const row = rowOf(page.text, scope);
    assert.deepEqual([/ checked/.test(row), / disabled/.test(row)], [isAllowed, !isAllowed], row);
    assert.equal(row.includes('Your role does not allow it'), !isAllowed);
  }
  assert.match(rowOf(page.text, 'workshop:write'), /Workshop – edit job cards/);
  // Whatever the browser makes of that: what is not allowed is not given.
  const back = await decide(browser, page, { decision: 'approve', scope: [...scopes] });
  const { body } = await exchangeCode(dealer, { partner, verifier, code: told(back.leadsTo).code ?? '' });
  assert.equal(body.scope, 'vehicles:read customers:read');
});

test('what is unticked is not given, nor what was not asked for', async () => {
  const dealer = await dealership();
  const { partner, verifier, path } = await asked(dealer);
  const { browser, page } = await opened(dealer, path);
  const back = await decide(browser, page, { decision: 'approve', scope: ['customers:read', 'sales:write', 'enquiries:read', 'x'] });
  const { body } = await exchangeCode(dealer, { partner, verifier, code: told(back.leadsTo).code ?? '' });
  assert.equal(body.scope, 'customers:read');
});

test('approving with nothing ticked asks again', async () => {
  const dealer = await dealership();
  const { path } = await asked(dealer);
  const { browser, page } = await opened(dealer, path);
  const again = await decide(browser, page, { decision: 'approve', scope: undefined });
  assert.deepEqual([again.status, /Tick at least one/.test(again.text)], [422, true]);
  assert.equal(formIn(again.text, '/oauth/consent').has('scope'), false, 'what was unticked stays so');
});

test('a permission that is lost while the page is open is not given', async () => {
  const dealer = await dealership();
  const { partner, verifier, path } = await asked(dealer);
  const { email } = await dealer.newUser({ role: 'ADMINISTRATOR' });
  const { browser, page } = await opened(dealer, path, email);
  await setUser(dealer.ctx, email, { without: ['CUSTOMERS_VIEW', 'STOCK_COSTS'] });
  const back = await decide(browser, page, { decision: 'approve' });
  const { body } = await exchangeCode(dealer, { partner, verifier, code: told(back.leadsTo).code ?? '' });
  assert.equal(body.scope, 'vehicles:read workshop:write');
});

test('on the Free plan a page says why, and leads back with access_denied', async () => {
  const dealer = await dealership();
  const { path } = await asked(dealer);
  const before = await opened(dealer, path);
  await dealer.setPlan('FREE');
  const { page } = await opened(dealer, path);
  for (const { status, text } of [page, await decide(before.browser, before.page, { decision: 'approve' })]) {
    assert.equal(status, 403);
    assert.match(text, /is on the Free plan/);
    const { error, state } = told(linkIn(text, 'Back to Partner'));
    assert.deepEqual([error, state], ['access_denied', 'a state']);
    assert.ok(!text.includes('Approve'));
  }
});

test('a role that allows nothing of it is told so, and leads back with access_denied', async () => {
  const dealer = await dealership();
  const { path } = await asked(dealer, { scopes: ['customers:read', 'vehicles:write'] });
  const { email } = await dealer.newUser({ role: 'TECHNICIAN' });
  const { browser, page } = await opened(dealer, path, email);
  assert.deepEqual([page.status, /Your role, Technician, allows nothing/.test(page.text)], [403, true]);
  assert.equal(told(linkIn(page.text, 'Back to Partner')).error, 'access_denied');
  const forced = await browser.post('/oauth/consent', {
    ...Object.fromEntries(formIn((await browser.get('/')).text, '/sign-out')),
    request: new URLSearchParams(path.split('?')[1]).get('request') ?? '',
    decision: 'approve',
    scope: 'customers:read',
  });
  assert.deepEqual([forced.status, forced.leadsTo], [403, null]);
});

test('a request that was altered, is older than an hour or of an app that is gone is told so, and nothing is connected', async () => {
  const dealer = await dealership();
  dealer.clock.move({ seconds: 0 });
  const { path, partner } = await asked(dealer);
  const { browser, page } = await opened(dealer, path);
  const isRefused = async (path: string) => {
    const paper = await browser.get(path);
    assert.deepEqual([paper.status, /This request cannot be used/.test(paper.text)], [400, true], path);
  };
  const request = new URLSearchParams(path.split('?')[1]).get('request') ?? '';
  const [text = '', signature = ''] = request.split('.');
  const other = Buffer.from(Buffer.from(text, 'base64url').toString().replace('partner.example', 'evil.example')).toString('base64url');
  for (const altered of [`${other}.${signature}`, text, `${request}x`, '', 'x', '.', 'null', '[]'])
    await isRefused(`/oauth/consent?${new URLSearchParams({ request: altered })}`);
  await isRefused('/oauth/consent');
  assert.equal((await visitor(dealer.service).get('/sign-in?request=x')).status, 400, 'before anybody types a password');

  dealer.clock.move({ minutes: 61 });
  await isRefused(path);
  assert.equal((await decide(browser, page, { decision: 'approve' })).status, 400);
  dealer.clock.move({ minutes: -61 });
  assert.equal((await browser.get(path)).status, 200);
  await revokeApp(dealer.service, partner.clientId);
  await isRefused(path);
  assert.equal((await decide(browser, page, { decision: 'approve' })).status, 400);
});

test('the decision is that of the page that was shown: a form of another session or site decides nothing', async () => {
  const dealer = await dealership();
  const { path } = await asked(dealer);
  const one = await opened(dealer, path);
  const other = await opened(dealer, path, (await dealer.newUser()).email);
  const theirs = { ...Object.fromEntries(formIn(other.page.text, '/oauth/consent')), decision: 'approve' };
  assert.equal((await one.browser.post('/oauth/consent', theirs)).status, 403);
  const own = { ...Object.fromEntries(formIn(one.page.text, '/oauth/consent')), decision: 'approve' };
  assert.equal(
    (await one.browser.post('/oauth/consent', own, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })).status,
    403,
  );
  assert.equal((await one.browser.post('/oauth/consent', { ...own, form: '' })).status, 403);
  assert.equal((await one.browser.post('/oauth/consent', own)).status, 303);
});

test('approving twice gives two codes, of which each is for the app alone', async () => {
  const dealer = await dealership();
  const { partner, verifier, path } = await asked(dealer);
  const { browser, page } = await opened(dealer, path);
  const codes = await Promise.all([1, 2].map(async () => told((await decide(browser, page, { decision: 'approve' })).leadsTo).code ?? ''));
  assert.notEqual(codes[0], codes[1]);
  for (const code of codes) assert.equal((await exchangeCode(dealer, { partner, verifier, code })).status, 200);
});

test('who has been signed in for long says once more who they are, and goes on under another token', async () => {
  const dealer = await dealership();
  dealer.clock.move({ seconds: 0 });
  const { path } = await asked(dealer);
  const { browser, page: early } = await opened(dealer, path);
  assert.ok(!early.text.includes('name="password"'));
  dealer.clock.move({ minutes: 31 });
  const page = await browser.get(path);
  assert.ok(page.text.includes('name="password"'));
  const token = browser.cookies.get('forecourt_session');
  for (const password of [undefined, '', 'guess']) {
    const again = await decide(browser, early, { decision: 'approve', password });
    assert.deepEqual([again.status, /That was not your password/.test(again.text)], [422, true]);
  }
  const declined = await decide(browser, page, { decision: 'decline' });
  assert.equal(told(declined.leadsTo).error, 'access_denied', 'which takes no password');
  const back = await decide(browser, page, { decision: 'approve', password: 'correct horse' });
  assert.ok(told(back.leadsTo).code);
  assert.notEqual(browser.cookies.get('forecourt_session'), token);
  assert.equal((await browser.get('/')).status, 200);
  browser.cookies.set('forecourt_session', token ?? '');
  assert.equal((await browser.get('/')).leadsTo, '/sign-in', 'the token before opens nothing');
});

test('a double click with the right password is no guess: one leads to the app, the other back to the request or the sign-in', async () => {
  const dealer = await dealership();
  dealer.clock.move({ seconds: 0 });
  const { browser } = await opened(dealer, '/');
  for (let n = 0; n < 6; n++) {
    dealer.clock.move({ minutes: 31 });
    const page = await browser.get((await asked(dealer)).path);
    const clicks = await Promise.all([1, 2].map(() => decide(browser, page, { decision: 'approve', password: 'correct horse' })));
    assert.deepEqual(
      clicks.map(({ status }) => status),
      [303, 303],
    );
    assert.equal(
      clicks.filter(({ leadsTo }) => leadsTo?.startsWith(callback)).length,
      1,
      JSON.stringify(clicks.map(({ leadsTo }) => leadsTo)),
    );
  }
});

test('whoever proved who they are stays signed in when the approval fails', async () => {
  const dealer = await dealership();
  dealer.clock.move({ seconds: 0 });
  const { path } = await asked(dealer);
  const { browser } = await opened(dealer, path);
  dealer.clock.move({ minutes: 31 });
  const page = await browser.get(path);
  const gate = Promise.withResolvers<void>();
  const has = Promise.withResolvers<void>();
  const writing = inTransaction(dealer.ctx, () => {
    has.resolve();
    return gate.promise;
  });
  await has.promise;
  const { status, text } = await decide(browser, page, { decision: 'approve', password: 'correct horse' });
  assert.deepEqual([status, /Just a moment/.test(text)], [503, true]);
  gate.resolve();
  await writing;
  const again = await browser.get(path);
  assert.equal(again.status, 200);
  assert.ok(told((await decide(browser, again, { decision: 'approve' })).leadsTo).code);
});

test('guesses at the password of somebody who is signed in are counted, too', async () => {
  const dealer = await dealership();
  dealer.clock.move({ seconds: 0 });
  const { path } = await asked(dealer);
  const { browser } = await opened(dealer, path);
  dealer.clock.move({ minutes: 31 });
  const page = await browser.get(path);
  const guess = (password: string) => decide(browser, page, { decision: 'approve', password });
  for (let n = 0; n < 10; n++) assert.equal((await guess(`guess ${n}`)).status, 422);
  assert.equal((await guess('correct horse')).status, 429);
});

test('somebody else signs in by "Not you?", with the same request', async () => {
  const dealer = await dealership();
  const { path } = await asked(dealer);
  const { browser, page } = await opened(dealer, path);
  const out = await browser.fill(page, '/sign-out');
  const { email } = await dealer.newUser();
  const signedIn = await browser.signIn({ dealerCode: dealer.code, email }, out.leadsTo ?? '');
  assert.equal(signedIn.leadsTo, path);
  assert.ok((await browser.get(path)).text.includes(email));
});

test('a session that ends while the page is open leads to the sign-in and back to the request', async () => {
  const dealer = await dealership();
  const { path } = await asked(dealer);
  const { email } = await dealer.newUser();
  const { browser, page } = await opened(dealer, path, email);
  await setUser(dealer.ctx, email, { password: 'battery staple' });
  const { leadsTo } = await decide(browser, page, { decision: 'approve' });
  const signedIn = await browser.signIn({ dealerCode: dealer.code, email, password: 'battery staple' }, leadsTo ?? '');
  assert.equal(signedIn.leadsTo, path);
});

test('a logo is shown from its own https address alone; the form may lead to the app', async () => {
  const dealer = await dealership();
  const policyWith = async (given: Asked) => {
    const { page } = await opened(dealer, (await asked(dealer, given)).path);
    return { text: page.text, parts: page.headers['content-security-policy']?.split('; ') ?? [] };
  };
  const plain = await policyWith({});
  assert.ok(plain.parts.includes("img-src 'self'") && plain.parts.includes("form-action 'self' https:"), plain.parts.join('; '));
  const pictured = await policyWith({ logo: 'https://cdn.partner.example:8443/logo.png?size=1' });
  assert.ok(pictured.parts.includes("img-src 'self' https://cdn.partner.example:8443"));
  assert.match(pictured.text, /<img src="https:\/\/cdn\.partner\.example:8443\/logo\.png\?size=1" alt=""/);
  const local = await policyWith({ redirectUri: 'http://127.0.0.1:33418/' });
  assert.ok(local.parts.includes("form-action 'self' https: http://127.0.0.1:*"));
  const six = await policyWith({ redirectUri: 'http://[::1]:33418/' });
  assert.ok(six.parts.includes("form-action 'self' https: http:"), 'browsers know no IPv6 address there');
  const installed = await policyWith({ redirectUri: 'partner-app:/callback' });
  assert.ok(installed.parts.includes("form-action 'self' https: partner-app:"));
});

/** The row of a scope. */
const rowOf = (page: string, scope: string): string =>
  (page.match(/<li[\s\S]*?<\/li>/g) ?? []).find((row) => row.includes(`value="${scope}"`)) ?? '';

/** Where a link with these words leads. */
function linkIn(page: string, words: string): string {
  const links = [...page.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)<\/a>/g)];
  return links.find(([, , text]) => text === words)?.[1]?.replaceAll('&amp;', '&') ?? '';
}
