import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import * as second from '@modelcontextprotocol/client';
import type { OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { PartnerApp } from '../../support/oauth-house.ts';
import { oauthHouse, walk } from '../../support/oauth-house.ts';
import { ask } from '../../support/plain-partner.ts';

const house = await oauthHouse();
const { clock } = house.dealer;
const about = { name: 'An assistant', version: '1.0.0' };

/** What an assistant keeps of its connection: the app it was registered as, tokens, and where its user was sent. */
function memory({ clientId, clientSecret, redirectUri, baseUrl }: PartnerApp) {
  const kept: Kept = { client: { client_id: clientId, client_secret: clientSecret, issuer: baseUrl }, verifier: '' };
  return {
    kept,
    redirectUrl: redirectUri,
    clientMetadata: { client_name: about.name, redirect_uris: [redirectUri] },
    state(): string {
      kept.state = randomBytes(16).toString('hex');
      return kept.state;
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client: OAuthClientInformationMixed) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens: OAuthTokens) => void Object.assign(kept, { tokens }),
    redirectToAuthorization: (sentTo: URL) => void Object.assign(kept, { sentTo }),
    saveCodeVerifier: (verifier: string) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier,
    discoveryState: () => kept.discovered,
    saveDiscoveryState: (discovered: OAuthDiscoveryState) => void Object.assign(kept, { discovered }),
    invalidateCredentials: (scope: string) => void (scope === 'client' || delete kept.tokens),
  };
}

interface Kept {
  client: OAuthClientInformationMixed;
  tokens?: OAuthTokens;
  verifier: string;
  discovered?: OAuthDiscoveryState;
  sentTo?: URL;
  state?: string;
}

interface Assistant {
  /** Connects; rejects once the user was sent to the consent. */
  connect(): Promise<unknown>;
  finish(back: URLSearchParams): Promise<void>;
  tools(): Promise<string[]>;
  close(): Promise<void>;
}

type Memory = ReturnType<typeof memory>;
const address = () => new URL(`${house.baseUrl}/v1/mcp`);
const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);

function firstGeneration(authProvider: Memory): Assistant {
  const transport = new StreamableHTTPClientTransport(address(), { authProvider });
  const client = new Client(about);
  return {
    connect: () => client.connect(transport as Parameters<typeof client.connect>[0]),
    finish: (back) => transport.finishAuth(back.get('code') ?? ''),
    tools: async () => namesOf(await client.listTools()),
    close: () => client.close(),
  };
}

const secondGeneration =
  (mode: 'legacy' | 'auto') =>
  (authProvider: Memory): Assistant => {
    const transport = new second.StreamableHTTPClientTransport(address(), { authProvider });
    const client = new second.Client(about, { versionNegotiation: { mode } });
    return {
      connect: () => client.connect(transport),
      finish: (back) => transport.finishAuth(back),
      tools: async () => namesOf(await client.listTools()),
      close: () => client.close(),
    };
  };

const generations: [string, (authProvider: Memory) => Assistant][] = [
  ['@modelcontextprotocol/sdk', firstGeneration],
  ['@modelcontextprotocol/client, legacy', secondGeneration('legacy')],
  ['@modelcontextprotocol/client, auto', secondGeneration('auto')],
];

for (const [name, start] of generations) {
  test(`an assistant connects with nothing but the MCP address, and refreshes when its token ends: ${name}`, async (t) => {
    const app = await house.newApp({ name, scopes: ['vehicles:read', 'enquiries:read'] });
    const provider = memory(app);
    const { kept } = provider;
    const unauthorized = (work: Promise<unknown>) =>
      assert.rejects(work, (thrown) => {
        assert.ok(thrown instanceof UnauthorizedError || thrown instanceof second.UnauthorizedError, String(thrown));
        return true;
      });

    // 401, RFC 9728, RFC 8414, PKCE; the scopes are those of the app.
    const before = start(provider);
    await unauthorized(before.connect());
    assert.equal(kept.sentTo?.searchParams.get('scope'), null);
    const back = new URL(await walk(house, kept.sentTo?.href ?? '', house.member)).searchParams;
    assert.deepEqual([back.get('state'), back.get('iss')], [kept.state, house.baseUrl]);
    await before.finish(back);

    const assistant = start(provider);
    t.after(() => assistant.close());
    await assistant.connect();
    const tools = await assistant.tools();
    assert.deepEqual(tools, ['search_vehicles', 'get_vehicle', 'stock_summary', 'list_enquiries', 'get_enquiry'], 'what its scopes reach');

    for (const endToken of [async () => clock.move({ minutes: 61 }), async (token: string) => void (await ask(app, 'revoke', { token }))]) {
      const { access_token: access = '', refresh_token: refresh } = kept.tokens ?? {};
      await endToken(access);
      assert.deepEqual(await assistant.tools(), tools);
      assert.notEqual(kept.tokens?.access_token, access);
      assert.notEqual(kept.tokens?.refresh_token, refresh);
    }

    // Disconnected, it asks its user anew.
    await house.disconnect(app.name);
    delete kept.sentTo;
    await assistant.tools().then(
      () => assert.fail('It is not connected any more.'),
      () => undefined,
    );
    assert.ok(kept.sentTo);
  });
}
