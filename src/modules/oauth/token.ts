import { operatorContext } from '#modules/dealers/index.ts';
import { newTokenText, readTokenText } from '#modules/keys/index.ts';
import { sha256 } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import type { FromClient } from './client.ts';
import { authenticate } from './client.ts';
import { endConnection } from './connections.ts';
import type { TokenResponse, tokenParameters } from './contract.ts';
import { accessTokenSeconds } from './contract.ts';
import type { AppRow } from './queries.ts';
import type { Presented } from './rules.ts';
import { checkSent, isReuse, presentedIn, refusedCode, refusedRefresh } from './rules.ts';
import type { Issued, KeptToken } from './token-queries.ts';
import { codeAsKept, exchangeCode, exchangeRefreshToken, refreshTokenAsKept } from './token-queries.ts';

/** Exchanges a code or a refresh token for tokens, once. */
export async function exchange(service: Service, sent: FromClient<(typeof tokenParameters)[number]>): Promise<TokenResponse> {
  checkSent(sent.problem);
  const by = { app: await authenticate(service, sent), requestId: sent.requestId };
  const presented = presentedIn(sent.parameters);
  const [access, refresh] = [newTokenText('oat'), newTokenText('ort')];
  const issued = { access: access.hash, refresh: refresh.hash };
  const scopes =
    presented.kind === 'code' ? await forCode(service, by, presented, issued) : await forRefresh(service, by, presented, issued);
  return {
    access_token: access.token,
    token_type: 'Bearer',
    expires_in: accessTokenSeconds,
    refresh_token: refresh.token,
    scope: scopes.join(' '),
  };
}

/** Which app asks, and in which request. */
interface Asking {
  readonly app: AppRow;
  readonly requestId: string;
}

type Of<K extends Presented['kind']> = Extract<Presented, { kind: K }>;

async function forCode(
  service: Service,
  { app, requestId }: Asking,
  { code, redirectUri, verifier }: Of<'code'>,
  issued: Issued,
): Promise<string[]> {
  const hash = hashOf('oac', code);
  const challenge = sha256(verifier).toString('base64url');
  const use = hash && { hash, appId: app.id, redirectUri, challenge };
  const scopes = use && (await exchangeCode(service, issued, use));
  if (scopes) return scopes;
  const kept = hash && (await codeAsKept(service, hash));
  await endIfReused(service, app, kept, requestId);
  throw refusedCode();
}

async function forRefresh(
  service: Service,
  { app, requestId }: Asking,
  { token, scopes: asked }: Of<'refresh'>,
  issued: Issued,
): Promise<string[]> {
  const hash = hashOf('ort', token);
  const scopes = hash && (await exchangeRefreshToken(service, issued, { hash, appId: app.id, scopes: asked }));
  if (scopes) return scopes;
  const kept = hash && (await refreshTokenAsKept(service, hash));
  await endIfReused(service, app, kept, requestId);
  throw refusedRefresh(kept, app.id, asked);
}

/** What was used once is presented by somebody who stole it, or was stolen and used before: nobody can tell, so all of it ends. */
async function endIfReused(service: Service, app: AppRow, kept: KeptToken | undefined, requestId: string): Promise<void> {
  if (!isReuse(kept, app.id) || kept.revoked) return;
  await endConnection({ ...(await operatorContext(service, kept.dealerId)), requestId }, kept.authorisationId, 'reuse');
}

/** What finds it; nothing for a text that was never issued as one. */
export function hashOf(kind: 'oac' | 'ort' | 'oat', text: string): Buffer | undefined {
  const token = readTokenText(text);
  return token?.kind === kind ? token.hash : undefined;
}
