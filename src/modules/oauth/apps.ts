import { fromMillis } from '#platform/dates.ts';
import { Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import { randomText, sha256, uuidv7 } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import { endConnections } from './connections.ts';
import type { NewApp } from './contract.ts';
import { newApp } from './contract.ts';
import { endApp, insertApp, overdue } from './queries.ts';

/** Registers a partner app. Its secret is shown here and never again. */
export async function registerApp(service: Service, input: NewApp): Promise<{ clientId: string; clientSecret: string }> {
  const { name, website, logo, redirectUris, scopes } = checked(newApp, input);
  const now = service.clock() ?? fromMillis(Date.now());
  // Letters and digits alone, so that every way in which a client may encode them comes to the same.
  const [clientId, clientSecret] = [randomText(24), randomText(43)];
  await insertApp(service, {
    id: uuidv7(now),
    client_id: clientId,
    secret_hash: sha256(clientSecret),
    name,
    website_url: website,
    logo_url: logo,
    redirect_uris: [...new Set(redirectUris)],
    scopes: [...new Set(scopes)],
    created_at: now,
  });
  return { clientId, clientSecret };
}

/** Ends an app for good, at every dealer. Nothing opens with its tokens from the first moment on; how many authorisations it had is told. Asked again, it goes on with what is left. */
export async function revokeApp(service: Service, clientId: string): Promise<{ authorisations: number }> {
  const appId = await endApp(service, clientId);
  if (appId === undefined) throw new Refusal('not_found', 'There is no app with this client id.');
  const open = await overdue(service, appId);
  await endConnections(service, open);
  return { authorisations: open.length };
}
