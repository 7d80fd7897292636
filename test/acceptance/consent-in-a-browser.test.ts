import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { registerApp } from '#modules/oauth/index.ts';
import type { Service } from '#platform/service.ts';
import { buildApi, listen } from '../../src/app/api.ts';
import { buildDms } from '../../src/app/dms/server.ts';
import { keepPicture, realBrowser } from '../support/browser.ts';
import { dealership } from '../support/dealership.ts';
import { authorizeQuery, postForm, proof } from '../support/oauth.ts';

const scopes = ['vehicles:read', 'vehicles:costs', 'customers:read', 'enquiries:write', 'workshop:write'];
const desk = { viewport: { width: 1200, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

test('without any script somebody signs in, approves what their role allows and comes back to the app; an administrator ends it', async (t) => {
  const house = await openHouse(t);
  const app = await partnerAt(t, house.service);
  const window = await realBrowser(t);
  const page = await window({ ...desk, javaScriptEnabled: false });
  const { verifier, challenge } = proof();
  await page.goto(house.apiUrl + authorizeQuery(app, challenge, { scope: scopes.join(' '), state: 'kept' }));
  await keepPicture(page, 'sign-in');
  const { email } = await house.newUser({ role: 'SALES_EXECUTIVE' });
  await signIn(page, house.code, email, 'a wrong one');
  await page.getByRole('alert').getByText('That is not right.').waitFor();
  await keepPicture(page, 'sign-in-wrong');
  await page.getByLabel('Password').fill('correct horse');
  await page.keyboard.press('Enter');

  await page.getByRole('heading', { name: 'Stock & Sons <b> wants to connect to Test Motors' }).waitFor();
  const mayTick = async (words: string) => {
    const box = page.getByLabel(words);
    return [await box.isEnabled(), await box.isChecked()];
  };
  assert.deepEqual(await mayTick('See vehicles with their prices and photos'), [true, true]);
  assert.deepEqual(await mayTick('See what vehicles cost and what is earned with them'), [false, false]);
  await page.getByLabel('Record and change enquiries').uncheck();
  await keepPicture(page, 'consent');
  await page.getByRole('button', { name: 'Approve' }).click();

  // The app's own address leads on to another of its own, and the browser goes along.
  await page.getByRole('heading', { name: 'Connected' }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/welcome');
  const [told] = app.told;
  assert.equal(told?.searchParams.get('state'), 'kept');
  const { body } = await postForm(house.api, '/v1/oauth/token', app, {
    grant_type: 'authorization_code',
    code: told?.searchParams.get('code') ?? '',
    redirect_uri: app.redirectUri,
    code_verifier: verifier,
  });
  assert.equal(body.scope, 'vehicles:read customers:read');

  const boss = await window({ ...desk, javaScriptEnabled: false });
  await boss.goto(`${house.dmsUrl}/administration/developers/connected-apps`);
  await signIn(boss, house.code, house.owner.email);
  await boss.getByText('Disconnect …').click();
  await keepPicture(boss, 'connected-apps');
  await boss.getByRole('button', { name: 'Disconnect Stock & Sons <b>' }).click();
  await boss.getByRole('status').getByText('The app is disconnected.').waitFor();
  await keepPicture(boss, 'disconnected');
  await boss.getByRole('link', { name: 'Start' }).click();
  await boss.getByRole('heading', { name: 'Test Motors' }).waitFor();
  await keepPicture(boss, 'home');
  await boss.getByRole('button', { name: 'Sign out' }).click();
  await boss.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('declining leads back to the app from a phone as well', async (t) => {
  const house = await openHouse(t);
  const app = await partnerAt(t, house.service);
  const window = await realBrowser(t);
  const page = await window({ ...phone, colorScheme: 'dark' });
  await page.goto(house.apiUrl + authorizeQuery(app, proof().challenge, { scope: scopes.join(' '), state: 'kept' }));
  await signIn(page, house.code, house.owner.email);
  await page.getByRole('button', { name: 'Decline' }).waitFor();
  const isTooWide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
  assert.equal(isTooWide, false);
  await keepPicture(page, 'consent-on-a-phone');
  await page.getByRole('button', { name: 'Decline' }).click();
  await page.getByRole('heading', { name: 'Connected' }).waitFor();
  const [told] = app.told;
  assert.deepEqual([told?.searchParams.get('error'), told?.searchParams.get('state')], ['access_denied', 'kept']);
});

test('on the Free plan a page says why, and leads back to the app', async (t) => {
  const house = await openHouse(t, 'FREE');
  const app = await partnerAt(t, house.service);
  const page = await (await realBrowser(t))(phone);
  await page.goto(house.apiUrl + authorizeQuery(app, proof().challenge, { scope: scopes.join(' ') }));
  await signIn(page, house.code, house.owner.email);
  await page.getByText('is on the Free plan').waitFor();
  await keepPicture(page, 'free-plan');
  await page.getByRole('link', { name: 'Back to Stock & Sons <b>' }).click();
  await page.getByRole('heading', { name: 'Connected' }).waitFor();
  assert.equal(app.told[0]?.searchParams.get('error'), 'access_denied');
});

test('another site can neither show the pages inside its own nor send their forms', async (t) => {
  const house = await openHouse(t);
  const page = await (await realBrowser(t))(desk);
  await page.goto(house.dmsUrl);
  await signIn(page, house.code, house.owner.email);
  await page.getByRole('heading', { name: 'Test Motors' }).waitFor();

  const evil = await served(t, (_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<iframe src="${house.dmsUrl}/" name="inside"></iframe>
      <form method="post" action="${house.dmsUrl}/sign-out"><button>Win a car</button></form>`);
  });
  const blocked = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
  // Another site, as far as cookies go: a name instead of the address.
  await page.goto(evil.replace('127.0.0.1', 'localhost'));
  await blocked;
  await page.getByRole('button', { name: 'Win a car' }).click();
  await page.getByText('This form was sent by another site.').waitFor();
  await keepPicture(page, 'from-another-site');
  await page.goto(house.dmsUrl);
  await page.getByRole('heading', { name: 'Test Motors' }).waitFor();
});

async function signIn(page: Page, dealerCode: string, email: string, password = 'correct horse'): Promise<void> {
  await page.getByLabel('Dealer code').fill(dealerCode);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** A dealership whose API and web application a browser can reach. */
async function openHouse(t: TestContext, plan: 'FREE' | 'PROFESSIONAL' = 'PROFESSIONAL') {
  const dealer = await dealership({ plan });
  const dms = buildDms({ service: dealer.service, trustedProxies: [] });
  const dmsUrl = await listen(dms, '127.0.0.1', 0);
  const api = buildApi({ service: { ...dealer.service, dmsUrl }, baseUrl: 'http://127.0.0.1:4000', trustedProxies: [] });
  const apiUrl = await listen(api, '127.0.0.1', 0);
  t.after(() => Promise.all([dms.close(), api.close()]));
  return { ...dealer, dmsUrl, apiUrl, api };
}

/** An app with an address that hears what it is told and leads on to another. */
async function partnerAt(t: TestContext, service: Service) {
  const told: URL[] = [];
  const welcome = await served(t, (_request, response) => response.end('<h1>Connected</h1>'));
  const hears = await served(t, (request, response) => {
    told.push(new URL(request.url ?? '', 'http://127.0.0.1'));
    response.writeHead(302, { location: `${welcome}/welcome` }).end();
  });
  const redirectUri = `${hears}/callback`;
  const website = 'https://www.stock-and-sons.example/';
  const app = await registerApp(service, { name: 'Stock & Sons <b>', website, redirectUris: [redirectUri], scopes });
  return { ...app, redirectUri, told };
}

async function served(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
