import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** What is to be handed out: refresh tokens, or codes for these challenges. */
export interface Order {
  readonly issue: 'refresh' | 'code';
  readonly challenges: readonly string[];
}

export interface Issued {
  readonly texts: string[];
}

// A certified OAuth server with its own store in memory, to compare with: opaque tokens, rotation at every refresh, no ID tokens.
await once(process, 'message');
const client = { clientId: 'bench', clientSecret: 'bench-secret', redirectUri: 'https://partner.example/callback' };
const listening = createServer().listen(0, '127.0.0.1');
await once(listening, 'listening');
const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;

const provider = new Provider(url, {
  clients: [
    {
      client_id: client.clientId,
      client_secret: client.clientSecret,
      redirect_uris: [client.redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
  ],
  scopes: ['offline_access', 'vehicles:read', 'vehicles:write'],
  rotateRefreshToken: true,
  issueRefreshToken: async () => true,
  features: { devInteractions: { enabled: false } },
});
listening.on('request', provider.callback());

const scope = 'vehicles:read vehicles:write';

async function issued({ issue, challenges }: Order): Promise<Issued> {
  const found = await provider.Client.find(client.clientId);
  if (!found) throw new Error('The client is gone.');
  const texts: string[] = [];
  for (const [i, codeChallenge] of challenges.entries()) {
    const accountId = `account-${i}`;
    const grant = new provider.Grant({ clientId: client.clientId, accountId });
    grant.addOIDCScope(scope);
    const of = { client: found, accountId, grantId: await grant.save(), scope, gty: 'authorization_code' };
    const { redirectUri } = client;
    const token =
      issue === 'refresh'
        ? new provider.RefreshToken({ ...of, rotations: 0 })
        : new provider.AuthorizationCode({ ...of, redirectUri, codeChallenge, codeChallengeMethod: 'S256' });
    texts.push(await token.save());
  }
  return { texts };
}

process.on('message', async (order: Order) => process.send?.(await issued(order)));
process.once('SIGTERM', () => process.exit());
process.send?.({ url, client });
