import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUser } from '#modules/staff/index.ts';
import { createLog } from '#platform/log.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { formIn, visitor } from '../../../test/support/dms.ts';

test('who is not signed in is led to the sign-in, and from there to the page that was asked for', async () => {
  const { service, code, owner } = await dealership();
  const browser = visitor(service);
  assert.equal((await browser.get('/')).leadsTo, '/sign-in');
  const asked = await browser.get('/administration/developers/connected-apps');
  assert.equal(asked.leadsTo, '/sign-in?to=%2Fadministration%2Fdevelopers%2Fconnected-apps');
  const signedIn = await browser.signIn({ dealerCode: code, email: owner.email }, asked.leadsTo ?? '');
  assert.equal(signedIn.leadsTo, '/administration/developers/connected-apps');
  assert.equal((await browser.get(signedIn.leadsTo ?? '')).status, 200);
  assert.equal((await browser.get('/sign-in')).leadsTo, '/', 'who is signed in need not sign in');
});

test('a sign-in leads to no address of anybody else’s', async () => {
  const { service, code, owner } = await dealership();
  for (const to of ['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/sign-out', '/no-such-page']) {
    const browser = visitor(service);
    const paper = await browser.signIn({ dealerCode: code, email: owner.email }, `/sign-in?${new URLSearchParams({ to })}`);
    assert.deepEqual([paper.status, paper.leadsTo], [303, '/'], to);
  }
});

test('the start page tells where one is and as whom', async () => {
  const { service, code, owner } = await dealership({ plan: 'STANDARD' });
  const browser = visitor(service);
  await browser.signIn({ dealerCode: code, email: owner.email });
  const { text, status } = await browser.get('/');
  assert.equal(status, 200);
  for (const shown of ['Test Motors', code, owner.email, 'Administrator', 'Standard']) assert.ok(text.includes(shown), shown);
});

test('a cookie of a session is out of reach of scripts and other sites, and ends with the browser', async () => {
  const { service, code, owner } = await dealership();
  const cookieOf = async (dmsUrl: string) => {
    const browser = visitor({ ...service, dmsUrl });
    const { headers } = await browser.signIn({ dealerCode: code, email: owner.email });
    return (headers['set-cookie'] as unknown as string[]).find((cookie) => cookie.includes('session')) ?? '';
  };
  assert.match(await cookieOf('http://127.0.0.1:4001'), /^forecourt_session=dms_\w{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  assert.match(await cookieOf('https://dms.example.com'), /^__Host-forecourt_session=dms_\w{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
});

test('a sign-in ends the session that was open before, and takes no token that it was given', async () => {
  const { service, code, owner } = await dealership();
  const browser = visitor(service);
  const planted = `dms_${'a'.repeat(43)}`;
  browser.cookies.set('forecourt_session', planted);
  await browser.signIn({ dealerCode: code, email: owner.email });
  const first = browser.cookies.get('forecourt_session');
  assert.notEqual(first, planted);

  const sameBrowser = visitor(service);
  const page = await sameBrowser.get('/sign-in');
  sameBrowser.cookies.set('forecourt_session', first ?? '');
  await sameBrowser.fill(page, '/sign-in', { dealer_code: code, email: owner.email, password: 'correct horse' });
  assert.equal((await browser.get('/')).leadsTo, '/sign-in', 'what somebody kept of the first opens nothing');
  assert.equal((await sameBrowser.get('/')).status, 200);
});

test('after a sign-out a copy of the cookie opens nothing', async () => {
  const { service, code, owner } = await dealership();
  const [browser, thief] = [visitor(service), visitor(service)];
  await browser.signIn({ dealerCode: code, email: owner.email });
  thief.cookies.set('forecourt_session', browser.cookies.get('forecourt_session') ?? '');
  assert.equal((await thief.get('/')).status, 200);
  const out = await browser.fill(await browser.get('/'), '/sign-out');
  assert.equal(out.leadsTo, '/sign-in');
  assert.ok(!browser.cookies.has('forecourt_session'));
  assert.equal((await thief.get('/')).leadsTo, '/sign-in');
});

test('who is banned while signed in is shown nothing more', async () => {
  const { service, code, newUser, ctx } = await dealership();
  const { email } = await newUser();
  const browser = visitor(service);
  await browser.signIn({ dealerCode: code, email });
  await setUser(ctx, email, { status: 'banned' });
  assert.equal((await browser.get('/')).leadsTo, '/sign-in');
});

test('what was wrong is told in the same words whatever it was, and the password is not shown again', async () => {
  const { service, code, owner } = await dealership();
  const told = async (who: { dealerCode: string; email: string; password: string }) => {
    const paper = await visitor(service, '192.0.2.1').signIn(who);
    assert.equal(paper.status, 422);
    assert.ok(!paper.text.includes(who.password));
    return paper.text.replaceAll(/value="[^"]*"/g, '');
  };
  const one = await told({ dealerCode: code, email: owner.email, password: 'wrong-password-1' });
  assert.match(one, /role="alert"[^>]*>That is not right\./);
  assert.equal(await told({ dealerCode: code, email: 'nobody@example.com', password: 'wrong-password-2' }), one);
  assert.equal(await told({ dealerCode: 'nobody', email: owner.email, password: 'correct horse' }), one);
});

test('who guesses is told how long to wait', async () => {
  const { service, code, owner } = await dealership();
  const browser = visitor(service, '192.0.2.2');
  const guess = () => browser.signIn({ dealerCode: code, email: owner.email, password: 'guess' });
  for (let n = 0; n < 5; n++) assert.equal((await guess()).status, 422);
  const { status, text } = await guess();
  assert.equal(status, 429);
  assert.match(text, /Too many attempts\. Wait 15 minutes, then try again\./);
});

test('an address that is merely claimed does not help who guesses; one that a trusted proxy tells of counts', async () => {
  const { service, code, owner } = await dealership();
  const guessFrom = async (address: string, claimed: string) => {
    const browser = visitor(service, address);
    const form = Object.fromEntries(formIn((await browser.get('/sign-in')).text, '/sign-in'));
    const filled = { ...form, dealer_code: code, email: owner.email, password: 'guess' };
    return (await browser.post('/sign-in', filled, { 'x-forwarded-for': claimed })).status;
  };
  for (let n = 0; n < 5; n++) assert.equal(await guessFrom('192.0.2.9', `198.51.100.${n}`), 422);
  assert.equal(await guessFrom('192.0.2.9', '198.51.100.5'), 429);
  assert.equal(await guessFrom('10.0.0.1', '198.51.100.6'), 422);
});

test('what somebody typed is shown as the text it is', async () => {
  const { service } = await dealership();
  const { text } = await visitor(service, '192.0.2.3').signIn({
    dealerCode: '"><script>',
    email: "'><img src=x>@x.example",
    password: 'guess',
  });
  assert.ok(text.includes('value="&quot;&gt;&lt;script&gt;"'));
  assert.ok(!/<script|<img src=x/.test(text));
});

test('another site cannot sign somebody in, nor out', async () => {
  const { service, code, owner } = await dealership();
  const browser = visitor(service, '192.0.2.4');
  const form = formIn((await browser.get('/sign-in')).text, '/sign-in');
  const filled = { dealer_code: code, email: owner.email, password: 'correct horse' };
  const whole = { ...Object.fromEntries(form), ...filled };
  for (const headers of [
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:4002' },
    { 'sec-fetch-site': 'none', origin: 'null' },
    { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-origin', origin: 'null' },
  ]) {
    const { status, text } = await browser.post('/sign-in', whole, headers as never);
    assert.deepEqual([status, /sent by another site/.test(text)], [403, true], JSON.stringify(headers));
  }
  const other = Object.fromEntries(formIn((await visitor(service).get('/sign-in')).text, '/sign-in'));
  for (const mark of [undefined, '', 'x', other.form]) {
    const { status } = await browser.post('/sign-in', { ...filled, ...(mark !== undefined && { form: mark }) });
    assert.equal(status, 403, `a form marked ${mark}`);
  }
  assert.equal((await browser.post('/sign-in', whole)).status, 303);

  const { text } = await browser.get('/');
  assert.equal((await browser.post('/sign-out', formIn(text, '/sign-out'), { 'sec-fetch-site': 'cross-site' })).status, 403);
  assert.equal((await browser.post('/sign-out', {})).status, 403);
  assert.equal((await browser.get('/')).status, 200, 'still signed in');
});

test('a form of another session, or of none, is out of date', async () => {
  const { service, code, owner, newUser } = await dealership();
  const [one, other] = [visitor(service), visitor(service)];
  await one.signIn({ dealerCode: code, email: owner.email });
  await other.signIn({ dealerCode: code, email: (await newUser()).email });
  const theirs = formIn((await other.get('/')).text, '/sign-out');
  const { status, text } = await one.post('/sign-out', theirs);
  assert.deepEqual([status, /out of date/.test(text)], [403, true]);
});

test('whoever comes by another name of the server can sign in, too', async () => {
  const { service, code, owner } = await dealership();
  const browser = visitor(service);
  const page = await browser.get('/sign-in');
  const form = { ...Object.fromEntries(formIn(page.text, '/sign-in')), dealer_code: code, email: owner.email, password: 'correct horse' };
  const { status } = await browser.post('/sign-in', form, { origin: 'http://localhost:4001', host: 'localhost:4001' });
  assert.equal(status, 303);
});

test('no page is kept, shown inside another, or lets a script run; what it leads to does not learn of it', async () => {
  const { service, code, owner } = await dealership();
  const browser = visitor(service);
  const papers = [await browser.get('/sign-in'), await browser.get('/nothing'), await browser.post('/sign-in', {})];
  await browser.signIn({ dealerCode: code, email: owner.email });
  for (const { headers } of [...papers, await browser.get('/')]) {
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['x-frame-options'], 'DENY');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'same-origin');
    const policy = headers['content-security-policy'] ?? '';
    for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "style-src 'self'"])
      assert.ok(policy.split('; ').includes(part), `${part} in ${policy}`);
    assert.ok(!policy.includes('script-src') && !policy.includes('unsafe'));
  }
});

test('how pages look is kept by browsers for ever, under a name that changes with it', async () => {
  const { service } = await dealership();
  const browser = visitor(service);
  const { text } = await browser.get('/sign-in');
  const paths = [...text.matchAll(/(?:href|src)="(\/(?:style|icon)-[0-9a-f]{12}\.\w+)"/g)].map(([, path = '']) => path);
  assert.equal(new Set(paths).size, 2);
  for (const path of paths) {
    const { status, headers } = await browser.get(path);
    assert.deepEqual([status, headers['cache-control']], [200, 'public, max-age=31536000, immutable']);
    assert.match(headers['content-type'] ?? '', path.endsWith('.css') ? /^text\/css/ : /^image\/svg/);
  }
});

test('what is no page of ours is told so, in a page', async () => {
  const { service } = await dealership();
  const browser = visitor(service);
  const isTold = ({ headers, text }: Awaited<ReturnType<typeof browser.get>>) =>
    headers['content-type'] === 'text/html; charset=utf-8' && text.includes('<h1>');
  for (const path of ['/nothing', '/%', '/sign-in/', '/healthz/x', `/${'a'.repeat(3_000)}`]) {
    const paper = await browser.get(path);
    assert.deepEqual([paper.status, isTold(paper)], [404, true], path);
  }
  const wrongMethod = await browser.get('/sign-out');
  assert.deepEqual([wrongMethod.status, wrongMethod.headers.allow, isTold(wrongMethod)], [405, 'POST', true]);
  const large = await browser.post('/sign-in', { password: 'x'.repeat(70_000) });
  assert.deepEqual([large.status, isTold(large)], [413, true]);
  const foreign = await browser.post('/sign-in', {}, { 'content-type': 'text/plain' });
  assert.deepEqual([foreign.status, isTold(foreign)], [415, true]);
  assert.equal((await browser.get('/healthz')).text, '{"status":"ok"}');
});

test('neither passwords nor tokens nor requests to connect stand in the log', async () => {
  const { service, code, owner } = await dealership();
  const lines: string[] = [];
  const log = createLog({ level: 'trace', pretty: false, to: { write: (line) => lines.push(line) } });
  const browser = visitor({ ...service, log });
  await browser.signIn({ dealerCode: code, email: owner.email, password: 'a-wrong-password' });
  await browser.signIn({ dealerCode: code, email: owner.email });
  await browser.get('/oauth/consent?request=a-signed-request');
  const text = lines.join('');
  assert.match(text, /"page":"dms.signed_in","status":303/);
  assert.match(text, /"msg":"signed in"/);
  assert.match(text, /"msg":"sign-in refused"/);
  for (const secret of ['a-wrong-password', 'correct horse', 'a-signed-request', browser.cookies.get('forecourt_session') ?? ''])
    assert.ok(!text.includes(secret), secret);
  log.info({ token: browser.cookies.get('forecourt_session') }, 'said by mistake');
  assert.match(lines.at(-1) ?? '', /"token":"dms_\[redacted\]"/);
});
