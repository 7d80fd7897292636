import { OAuthRefusal } from '#platform/errors.ts';
import type { Service } from '#platform/service.ts';
import { appOf } from './client.ts';
import { back, consentRequest } from './consent.ts';
import type { authorizeParameters } from './contract.ts';
import { isState, scopesAskedFor } from './rules.ts';

/** What the browser brings. */
export interface Asking {
  readonly parameters: Readonly<Partial<Record<(typeof authorizeParameters)[number], string>>>;
  readonly problem: string | null;
}

/** Where the browser goes on to: to the consent of the dealership, or back to the app with what is wrong. Null: to nobody, as nobody known asks. */
export async function authorise(service: Service, { parameters, problem }: Asking): Promise<string | null> {
  const { client_id: clientId = '', redirect_uri: redirectUri = '' } = parameters;
  const app = await appOf(service, clientId);
  if (!app?.redirect_uris.includes(redirectUri)) return null;
  const state = parameters.state !== undefined && isState(parameters.state) ? parameters.state : null;
  try {
    const scopes = scopesAskedFor(parameters, problem, app.scopes);
    const challenge = parameters.code_challenge ?? '';
    const request = consentRequest(service, { appId: app.id, redirectUri, scopes, state, challenge }, app.now);
    return `${service.dmsUrl}/oauth/consent?request=${request}`;
  } catch (refusal) {
    if (!(refusal instanceof OAuthRefusal)) throw refusal;
    return back(service, { redirectUri, state }, { error: refusal.error, error_description: refusal.message });
  }
}
