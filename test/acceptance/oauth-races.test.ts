import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disconnectApp } from '#modules/oauth/index.ts';
import { speak } from '../support/api.ts';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import type { Partner } from '../support/oauth.ts';
import { approved, basic, connected, formOf, postForm, refresh } from '../support/oauth.ts';
import { script, start } from '../support/processes.ts';

const rounds = 10;
const callers = 20;

interface Outcome {
  readonly status: number;
  readonly body: { access_token?: string; refresh_token?: string; error?: string };
}

type Form = Record<string, string>;

/** Several processes on one database. */
async function servers(t: Parameters<typeof start>[0], { databaseUrl }: Dealership): Promise<readonly string[]> {
  const env = { DATABASE_URL: databaseUrl, OAUTH_CALLS_PER_MINUTE: '1000000' };
  return (await Promise.all([0, 1, 2].map(() => start(t, script('api-process.ts'), env)))).map(({ url }) => url);
}

/** All at once. */
const atOnce = (urls: readonly string[], { clientId, clientSecret }: Partner, form: Form): Promise<Outcome[]> =>
  Promise.all(
    Array.from({ length: callers }, async (_, i) => {
      const headers = { ...basic(clientId, clientSecret), 'content-type': 'application/x-www-form-urlencoded' };
      const response = await fetch(`${urls[i % urls.length]}/v1/oauth/token`, { method: 'POST', headers, body: formOf(form) });
      return { status: response.status, body: (await response.json()) as Outcome['body'] };
    }),
  );

/** One had it, and what it got is worth nothing. */
async function assertOneWinner(dealer: Dealership, partner: Partner, outcomes: readonly Outcome[]): Promise<void> {
  const [winner, ...others] = outcomes.filter(({ status }) => status === 200);
  assert.ok(winner);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [...new Set(outcomes.filter(({ status }) => status !== 200).map(({ status, body }) => `${status} ${body.error}`))],
    ['400 invalid_grant'],
  );
  await speak(dealer.app, winner.body.access_token!).get('/v1/me').refuses(401, 'api_key_revoked');
  assert.equal((await refresh(dealer, partner, winner.body.refresh_token!)).body.error, 'invalid_grant');
  assert.equal(await survivors(dealer), 0);
}

/** Tokens that still open something. */
async function survivors({ service, id }: Dealership): Promise<number> {
  const { rows } = await service.pools.doors.query(
    `select ((select count(*) from oauth_access_token t join oauth_authorisation g on g.id = t.authorisation_id
               where g.dealer_id = $1 and g.revoked_at is null and t.revoked_at is null)
           + (select count(*) from oauth_refresh_token r join oauth_authorisation g on g.id = r.authorisation_id
               where g.dealer_id = $1 and g.revoked_at is null and r.used_at is null))::int as alive`,
    [id],
  );
  return rows[0].alive;
}

test('of 20 who exchange one code at once one is answered, and nothing of it is alive afterwards', async (t) => {
  const dealer = await dealership();
  const urls = await servers(t, dealer);
  for (let round = 0; round < rounds; round++) {
    const { partner, code, verifier } = await approved(dealer);
    const form = { grant_type: 'authorization_code', code, redirect_uri: partner.redirectUri, code_verifier: verifier };
    await assertOneWinner(dealer, partner, await atOnce(urls, partner, form));
  }
});

test('of 20 who present one refresh token at once one is answered, and nothing of the authorisation is alive afterwards', async (t) => {
  const dealer = await dealership();
  const urls = await servers(t, dealer);
  for (let round = 0; round < rounds; round++) {
    const { partner, refreshToken } = await connected(dealer);
    await assertOneWinner(dealer, partner, await atOnce(urls, partner, { grant_type: 'refresh_token', refresh_token: refreshToken }));
  }
});

test('a refresh while the authorisation is revoked leaves nothing alive, whichever comes first', async () => {
  const dealer = await dealership();
  for (let round = 0; round < rounds; round++) {
    const { partner, access, refreshToken } = await connected(dealer);
    const { key } = await speak(dealer.app, access).get('/v1/me').succeeds();
    const end =
      round % 2 === 0 ? disconnectApp(dealer.ctx, key.id) : postForm(dealer.app, '/v1/oauth/revoke', partner, { token: refreshToken });
    const [next] = await Promise.all([refresh(dealer, partner, refreshToken), end]);
    if (next.status === 200) await speak(dealer.app, next.body.access_token).get('/v1/me').refuses(401, 'api_key_revoked');
    else assert.equal(next.body.error, 'invalid_grant');
    assert.equal(await survivors(dealer), 0);
  }
});
