import { z } from 'zod';
import { ask, at, unexpected } from './ask.ts';
import type { LookupSettings, Provider } from './lookup.ts';
import { lookupTimeoutMs, unknownVehicle } from './lookup.ts';

type Settings = NonNullable<LookupSettings['dvsa']>;

/** The DVSA's MOT history: asked for the model, which the DVLA does not tell. */
export function dvsaHistory(settings: Settings): Provider {
  const url = at(settings.apiUrl, '/v1/trade/vehicles/registration');
  const tokens = tokensFor(settings);
  const askWith = async (token: string, registration: string, signal: AbortSignal) =>
    ask(`${url}/${encodeURIComponent(registration)}`, {
      headers: { accept: 'application/json', authorization: `Bearer ${token}`, 'x-api-key': settings.apiKey },
      signal,
    });
  return async (registration, signal) => {
    const token = await tokens.current();
    let told = await askWith(token, registration, signal);
    // A token can end before its time.
    if (told.status === 401) told = await askWith(await tokens.after(token), registration, signal);
    if (told.status === 200) return { ...unknownVehicle, ...history.parse(told.json) };
    if (told.status === 404) return 'unknown';
    if (told.status === 400) return 'refused';
    throw unexpected(told);
  };
}

/** Makes and models that were never recorded are written as words. */
const name = z
  .string()
  .trim()
  .max(60)
  .nullish()
  .transform((said) => (said && !/^(unknown|unclassified|not available)$/i.test(said) ? said : null));

/** It is asked for the model: a make that is not as published is as good as not said. */
const history = z.object({ make: name.catch(null), model: name });

/** One token for all requests, asked for anew a minute before it ends. A request that fails leaves none. */
function tokensFor({ tokenUrl, clientId, clientSecret }: Settings) {
  let held: { readonly token: Promise<Token>; goodUntilMs: number } | null = null;

  const fetchToken = (): Promise<Token> => {
    const mine = { token: requestToken(tokenUrl, clientId, clientSecret), goodUntilMs: Number.POSITIVE_INFINITY };
    held = mine;
    mine.token.then(
      ({ seconds }) => {
        mine.goodUntilMs = performance.now() + (seconds - 60) * 1_000;
      },
      () => {
        if (held === mine) held = null;
      },
    );
    return mine.token;
  };
  const current = async (): Promise<string> => (await (held && performance.now() < held.goodUntilMs ? held.token : fetchToken())).text;

  return {
    current,
    /** The token to use when this one was not accepted; another request may have fetched it already. */
    async after(refused: string): Promise<string> {
      if (held && (await held.token).text === refused) held = null;
      return current();
    },
  };
}

interface Token {
  readonly text: string;
  readonly seconds: number;
}

const grant = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().positive() });

async function requestToken(url: string, clientId: string, clientSecret: string): Promise<Token> {
  const scope = 'https://tapi.dvsa.gov.uk/.default';
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope };
  const body = new URLSearchParams(form);
  const told = await ask(url, { method: 'POST', body, signal: AbortSignal.timeout(lookupTimeoutMs) });
  if (told.status !== 200) throw unexpected(told);
  const { access_token: token, expires_in: seconds } = grant.parse(told.json);
  return { text: token, seconds };
}
