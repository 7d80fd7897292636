import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { before, test } from 'node:test';
import {
  Client as ClientOfTwo,
  StreamableHTTPClientTransport as TransportOfTwo,
  UnauthorizedError as UnauthorizedOfTwo,
} from '@modelcontextprotocol/client';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { approve } from '#modules/oauth/index.ts';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import type { Served } from '../support/mcp-server.ts';
import { freePort, mcpServer } from '../support/mcp-server.ts';
import type { Partner } from '../support/oauth.ts';
import { asUser, consentFor, partner, postForm } from '../support/oauth.ts';
import { passingFolder, root } from './outsiders.ts';

// An assistant that knows nothing but the address: from its first 401 to its tools, and on when its token ends.

const info = { name: 'judge', version: '1' };
const redirectUri = 'http://127.0.0.1:8765/callback';
let home: Dealership;
let app: Partner;

before(async () => {
  home = await dealership();
  app = await partner(home.service, { scopes: ['vehicles:read', 'vehicles:write'], redirectUri });
});

/** What the member of staff does in the browser: signs in and approves. Returns where they are led. */
async function approveAt({ app, service }: Served, address: URL): Promise<URL> {
  const consent = await consentFor({ app, service }, `${address.pathname}${address.search}`);
  return new URL(await approve({ ...(await asUser(home, home.owner.id)), service }, consent, consent.scopes));
}

/** Keeps what a client is to remember, and is asked to open a browser. */
class Memory implements OAuthClientProvider {
  readonly redirectUrl = redirectUri;
  readonly clientMetadata = { client_name: 'judge', redirect_uris: [redirectUri] };
  opened: URL | null = null;
  kept: OAuthTokens | undefined;
  renewals = 0;
  #verifier = '';
  clientInformation() {
    return { client_id: app.clientId, client_secret: app.clientSecret };
  }
  tokens() {
    return this.kept;
  }
  saveTokens(tokens: OAuthTokens) {
    this.kept = tokens;
    this.renewals++;
  }
  redirectToAuthorization(address: URL) {
    this.opened = address;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
}

interface Judge {
  connect(): Promise<void>;
  finish(answer: URL): Promise<void>;
  tools(): Promise<string[]>;
}

const judges: Record<string, (address: URL, memory: Memory) => Judge> = {
  'the SDK’s client': (address, memory) => {
    let client = new Client(info);
    let transport = new StreamableHTTPClientTransport(address, { authProvider: memory });
    return {
      connect: () => client.connect(transport as Parameters<Client['connect']>[0]),
      async finish(answer) {
        await transport.finishAuth(answer.searchParams.get('code')!);
        [client, transport] = [new Client(info), new StreamableHTTPClientTransport(address, { authProvider: memory })];
        await client.connect(transport as Parameters<Client['connect']>[0]);
      },
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    };
  },
  'the client of its second version': (address, memory) => {
    const made = () => ({
      client: new ClientOfTwo(info, { versionNegotiation: { mode: 'auto' } }),
      transport: new TransportOfTwo(address, { authProvider: memory as never }),
    });
    let { client, transport } = made();
    return {
      connect: () => client.connect(transport),
      async finish(answer) {
        await transport.finishAuth(answer.searchParams);
        ({ client, transport } = made());
        await client.connect(transport);
      },
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    };
  },
};

for (const [name, judge] of Object.entries(judges)) {
  test(`${name} walks from the address to its tools, and gets a new token by itself when one ends`, async (t) => {
    const served = await mcpServer(t);
    const memory = new Memory();
    const { connect, finish, tools } = judge(new URL(`${served.url}/v1/mcp`), memory);
    await assert.rejects(connect(), (error) => error instanceof UnauthorizedError || error instanceof UnauthorizedOfTwo);
    assert.ok(memory.opened);
    assert.equal(memory.opened.origin, served.url);
    assert.equal(memory.opened.searchParams.get('scope'), null, 'nobody told it what to ask for');

    await finish(await approveAt(served, memory.opened));
    const expected = ['search_vehicles', 'get_vehicle', 'update_vehicle_price', 'stock_summary'];
    assert.deepEqual(await tools(), expected);
    assert.equal(memory.renewals, 1);

    await postForm(served.app, '/v1/oauth/revoke', app, { token: memory.kept!.access_token });
    assert.deepEqual(await tools(), expected);
    assert.equal(memory.renewals, 2);
  });
}

test('the conformance suite is through with our authorisation server', async (t) => {
  const served = await mcpServer(t);
  const port = await freePort();
  const own = await partner(home.service, { redirectUri: `http://127.0.0.1:${port}/callback` });
  const script = join(root, 'node_modules/mcp-conformance-next/dist/index.js');
  const asked = ['--url', served.url, '--client-id', own.clientId, '--client-secret', own.clientSecret, '--port', String(port)];
  const child = spawn(process.execPath, [script, 'authorization', ...asked, '--output-dir', passingFolder(t)], {
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill());
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', async (line) => {
      said.push(line);
      const [address] = /http:\/\/127\.0\.0\.1:\d+\/v1\/oauth\/authorize\?\S+/.exec(line) ?? [];
      if (address) await fetch(await approveAt(served, new URL(address)));
    });
  }
  const [status] = await once(child, 'exit');
  assert.equal(status, 0, said.join('\n'));
});
