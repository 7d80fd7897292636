import { timingSafeEqual } from 'node:crypto';
import { sha256 } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import type { AppRow } from './queries.ts';
import { appByClientId } from './queries.ts';
import { credentialsIn, unknownClient } from './rules.ts';

/** What an endpoint that clients call themselves was sent. */
export interface FromClient<N extends string> {
  readonly parameters: Readonly<Partial<Record<N | 'client_id' | 'client_secret', string>>>;
  readonly problem: string | null;
  readonly authorization: string | null;
  readonly requestId: string;
}

/** The app that calls, once it has proved to be it. */
export async function authenticate(service: Service, { parameters, authorization }: FromClient<never>): Promise<AppRow> {
  const { client_id, client_secret } = parameters;
  const { clientId, secret } = credentialsIn({ authorization, client_id, client_secret });
  const app = await appOf(service, clientId);
  // Compared in any case, so that an unknown client takes the same time.
  const isIts = timingSafeEqual(sha256(secret), app?.secret_hash ?? nobodys);
  if (!app || !isIts) throw unknownClient();
  return app;
}

/** The app with this client id; a text that none can have is not looked up. */
export const appOf = async (service: Service, clientId: string): Promise<AppRow | undefined> =>
  /^[0-9A-Za-z]{1,64}$/.test(clientId) ? appByClientId(service, clientId) : undefined;

const nobodys = sha256('');
