import { createHash, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { registerApp } from '#modules/oauth/index.ts';
import type { Dealership } from '../test/support/dealership.ts';
import type { Partner } from '../test/support/oauth.ts';
import { approved, basic, connected, formOf } from '../test/support/oauth.ts';
import { newDealers } from './dealers.ts';
import type { Ground } from './ground.ts';
import { figuresOf } from './load.ts';
import type { Issued, Order } from './oauth-provider.ts';
import { ms, print, whole } from './table.ts';

const dealers = 8;
const lineages = 32;
const rounds = 5;
const roundSeconds = 3;
const races = 200;
const callers = 20;

/** Refresh tokens exchanged a second, and what comes of many who present the same code or token at once; beside oidc-provider, which keeps all in memory. */
export async function measureOAuth(ground: Ground): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  try {
    const [ours, theirs] = [await ourServer(ground), await otherServer(ground)];
    await measureRotations(agent, ours, theirs);
    await measureRaces(agent, ours, theirs);
  } finally {
    agent.destroy();
  }
}

/** A server of tokens, and who hands out what is presented to it. */
interface Server {
  readonly name: string;
  /** Of its processes, all on one store. */
  readonly tokenUrls: readonly string[];
  readonly client: Partner;
  refreshTokens(count: number): Promise<string[]>;
  codes(count: number): Promise<{ code: string; verifier: string }[]>;
}

async function ourServer(ground: Ground): Promise<Server> {
  const { service, inside: app } = ground;
  const redirectUri = 'https://partner.example/callback';
  const registered = { name: 'Bench', website: 'https://partner.example', redirectUris: [redirectUri] };
  const client = { ...(await registerApp(service, { ...registered, scopes: ['vehicles:read', 'vehicles:write'] })), redirectUri };
  const houses: Dealership[] = [];
  for (const { ctx } of await newDealers(service, dealers)) {
    const owner = await ctx.db.selectFrom('staff').select(['id', 'email']).where('dealer_id', '=', ctx.dealer.id).executeTakeFirstOrThrow();
    houses.push({ app, service, ctx, owner } as Dealership);
  }
  const each = async <T>(count: number, make: (house: Dealership) => Promise<T>): Promise<T[]> => {
    const made: T[] = [];
    for (let n = 0; n < count; n++) made.push(await make(houses[n % houses.length]!));
    return made;
  };
  return {
    name: 'Forecourt, durable',
    tokenUrls: [`${await ground.startApi()}/v1/oauth/token`, `${await ground.startApi()}/v1/oauth/token`],
    client,
    refreshTokens: async (count) =>
      (await each(count, (house) => connected(house, { partner: client }))).map(({ refreshToken }) => refreshToken),
    codes: (count) => each(count, (house) => approved(house, { partner: client })),
  };
}

async function otherServer(ground: Ground): Promise<Server> {
  const { child, said } = await ground.start<{ url: string; client: Partner }>('oauth-provider.ts', { begin: true });
  const ask = (order: Order) =>
    new Promise<Issued>((resolve) => {
      child.once('message', (issued: Issued) => resolve(issued));
      child.send(order);
    });
  return {
    name: 'oidc-provider, in memory',
    tokenUrls: [`${said.url}/token`],
    client: said.client,
    refreshTokens: async (count) => (await ask({ issue: 'refresh', challenges: Array.from({ length: count }, () => '') })).texts,
    async codes(count) {
      const verifiers = Array.from({ length: count }, () => randomBytes(32).toString('base64url'));
      const challenges = verifiers.map((verifier) => createHash('sha256').update(verifier).digest('base64url'));
      const { texts } = await ask({ issue: 'code', challenges });
      return texts.map((code, i) => ({ code, verifier: verifiers[i]! }));
    },
  };
}

// ---- Rotations ----

/** Each in turn, several times over, so that what the machine does meanwhile meets both alike. Of the rates the median counts. */
async function measureRotations(agent: Agent, ...servers: readonly Server[]): Promise<void> {
  const held = await Promise.all(servers.map((server) => server.refreshTokens(lineages)));
  const taken = servers.map(() => ({ times: [] as number[], rates: [] as number[] }));
  for (let round = -1; round < rounds; round++) {
    for (const [i, server] of servers.entries()) {
      const { times, seconds } = await rotate(agent, server, held[i]!, round < 0 ? 1 : roundSeconds);
      if (round < 0) continue;
      taken[i]!.times.push(...times);
      taken[i]!.rates.push(times.length / seconds);
    }
  }
  const rows = servers.map(({ name }, i) => {
    const { times, rates } = taken[i]!;
    const { p50, p99 } = figuresOf(times, 1);
    return [name, whole(rates.sort((a, b) => a - b)[Math.floor(rounds / 2)]!), ms(p50), ms(p99)];
  });
  print(`Refresh: ${lineages} apps that exchange their token again and again`, ['', 'rotations/s', 'p50 ms', 'p99 ms'], rows);
}

/** Every app goes on with the token it got. */
async function rotate(agent: Agent, server: Server, tokens: string[], seconds: number): Promise<{ times: number[]; seconds: number }> {
  const times: number[] = [];
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  await Promise.all(
    tokens.map(async (_, i) => {
      while (performance.now() < until) {
        const began = performance.now();
        // One process answers, as there is one of the other, too.
        const { status, body } = await ask(agent, server, server.tokenUrls[0]!, { grant_type: 'refresh_token', refresh_token: tokens[i]! });
        if (status !== 200) throw new Error(`${server.name}: ${status} ${JSON.stringify(body)}`);
        tokens[i] = body.refresh_token!;
        times.push(performance.now() - began);
      }
    }),
  );
  return { times, seconds: (performance.now() - startedAt) / 1000 };
}

// ---- Races ----

async function measureRaces(agent: Agent, ...servers: readonly Server[]): Promise<void> {
  const rows: string[][] = [];
  for (const server of servers) {
    const refreshes = (await server.refreshTokens(races)).map((token) => ({ grant_type: 'refresh_token', refresh_token: token }));
    rows.push([`${server.name}: one refresh token`, ...(await race(agent, server, refreshes))]);
    const exchanges = (await server.codes(races)).map(({ code, verifier }) => ({
      grant_type: 'authorization_code',
      redirect_uri: server.client.redirectUri,
      code,
      code_verifier: verifier,
    }));
    rows.push([`${server.name}: one code`, ...(await race(agent, server, exchanges))]);
  }
  print(`${races} races of ${callers} callers each`, ['', 'answered', 'most in a race', 'alive afterwards', 'seconds'], rows);
}

/** How many were answered; how many in the race with the most; how many of the tokens they got can be used when it is over. */
async function race(agent: Agent, server: Server, forms: readonly Record<string, string>[]): Promise<string[]> {
  const startedAt = performance.now();
  let [answered, most, alive] = [0, 0, 0];
  for (const form of forms) {
    const outcomes = await Promise.all(
      Array.from({ length: callers }, (_, i) => ask(agent, server, server.tokenUrls[i % server.tokenUrls.length]!, form)),
    );
    const winners = outcomes.filter(({ status }) => status === 200);
    answered += winners.length;
    most = Math.max(most, winners.length);
    for (const { body } of winners) {
      const next = await ask(agent, server, server.tokenUrls[0]!, { grant_type: 'refresh_token', refresh_token: body.refresh_token! });
      if (next.status === 200) alive++;
    }
  }
  return [answered, most, alive, (performance.now() - startedAt) / 1000].map(whole);
}

interface Outcome {
  readonly status: number;
  readonly body: { readonly refresh_token?: string };
}

function ask(agent: Agent, { client }: Server, url: string, form: Record<string, string>): Promise<Outcome> {
  const body = formOf(form);
  const headers = {
    ...basic(client.clientId, client.clientSecret),
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(Buffer.concat(chunks).toString()) }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
