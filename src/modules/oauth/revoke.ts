import { operatorContext } from '#modules/dealers/index.ts';
import { readTokenText } from '#modules/keys/index.ts';
import type { Service } from '#platform/service.ts';
import type { FromClient } from './client.ts';
import { authenticate } from './client.ts';
import { endConnection } from './connections.ts';
import type { AppRow } from './queries.ts';
import { checkSent, tokenIn } from './rules.ts';
import { refreshTokenAsKept, revokeAccessToken } from './token-queries.ts';

/** Ends an access token; or, with a refresh token, all that the app was authorised to. Whether there was such a token is not told. */
export async function revoke(service: Service, sent: FromClient<'token'>): Promise<Record<never, never>> {
  checkSent(sent.problem);
  const app = await authenticate(service, sent);
  const token = readTokenText(tokenIn(sent.parameters));
  if (token?.kind === 'oat') await revokeAccessToken(service, token.hash, app.id);
  if (token?.kind === 'ort') await endAuthorisationOf(service, app, token.hash, sent.requestId);
  return {};
}

/** One that was used, or has expired, was a key to the same. */
async function endAuthorisationOf(service: Service, app: AppRow, hash: Buffer, requestId: string): Promise<void> {
  const kept = await refreshTokenAsKept(service, hash);
  if (kept?.appId !== app.id || kept.revoked) return;
  await endConnection({ ...(await operatorContext(service, kept.dealerId)), requestId }, kept.authorisationId, 'app');
}
