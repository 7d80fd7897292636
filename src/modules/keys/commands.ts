import { recordActivity } from '#modules/activity/index.ts';
import type { KnownScope } from '#modules/staff/contract.ts';
import { permissionsOf } from '#modules/staff/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { invalid, Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { KeyChanges, NewKey } from './contract.ts';
import { keyChanges, newKey, publishableScopes, secretScopes } from './contract.ts';
import { newKeyText } from './key-text.ts';
import * as rows from './queries.ts';
import { effectiveScopes } from './rules.ts';

/** Issues a key. Its text is shown here and never again. */
export const issueKey = (ctx: Context, input: NewKey): Promise<{ id: string; key: string }> =>
  inTransaction(ctx, async (tx) => {
    const asked = checked(newKey, input);
    const { kind, environment, branchIds } = asked;
    const owner = await activeOwner(tx, asked.ownerId);
    const scopes = kind === 'publishable' ? [...publishableScopes] : scopesFor(asked.scopes, permissionsOf(owner), environment);
    if (branchIds !== 'all' && branchIds.length > 0) await checkBranches(tx, environment, branchIds);

    const { key, lookup, hash } = newKeyText(environment, kind);
    const id = uuidv7(tx.now);
    // In the form "no branch chosen" means all; it is stored as all.
    const allBranches = branchIds === 'all' || branchIds.length === 0;
    await rows.insertKey(tx, {
      dealer_id: tx.dealer.id,
      id,
      name: asked.name,
      kind,
      environment,
      owner_id: owner.id,
      scopes,
      all_branches: allBranches,
      branch_ids: allBranches ? [] : [...branchIds],
      ips: asked.ips,
      origins: asked.origins,
      rate_limit: asked.rateLimit,
      expires_at: asked.expiresAt,
      revoked_at: null,
      created_at: tx.now,
      updated_at: tx.now,
    });
    await rows.replaceSecret(tx, id, lookup, hash);
    recordActivity(tx, 'created', 'api_key', id, []);
    return { id, key };
  });

/** Changes owner, expiry, limit or name; the key itself stays. */
export const changeKey = (ctx: Context, id: string, input: KeyChanges): Promise<{ id: string }> =>
  inTransaction(ctx, async (tx) => {
    const changes = checked(keyChanges, input);
    const { name, ownerId, expiresAt, rateLimit } = changes;
    await standing(tx, id);
    if (ownerId !== undefined) await activeOwner(tx, ownerId);
    await rows.updateKey(tx, id, {
      ...(name !== undefined && { name }),
      ...(ownerId !== undefined && { owner_id: ownerId }),
      ...(expiresAt !== undefined && { expires_at: expiresAt }),
      ...(rateLimit !== undefined && { rate_limit: rateLimit }),
    });
    recordActivity(tx, 'updated', 'api_key', id, Object.keys(changes));
    return { id };
  });

/** Replaces the secret: the old key ends at once, the new one is shown here and never again. */
export const rollKey = (ctx: Context, id: string): Promise<{ id: string; key: string }> =>
  inTransaction(ctx, async (tx) => {
    const { environment, kind } = await standing(tx, id);
    const { key, lookup, hash } = newKeyText(environment, kind);
    await rows.replaceSecret(tx, id, lookup, hash);
    await rows.updateKey(tx, id, {});
    recordActivity(tx, 'updated', 'api_key', id, ['secret']);
    return { id, key };
  });

/** Ends a key for good. */
export const revokeKey = (ctx: Context, id: string): Promise<{ id: string }> =>
  inTransaction(ctx, async (tx) => {
    await standing(tx, id);
    await rows.updateKey(tx, id, { revoked_at: tx.now });
    recordActivity(tx, 'updated', 'api_key', id, ['revoked_at']);
    return { id };
  });

async function standing(tx: Context, id: string): Promise<rows.KeyRow> {
  const key = await rows.keyById(tx, id);
  if (!key) throw new Refusal('not_found');
  if (key.revoked_at) throw invalid('id', 'This key is revoked.');
  return key;
}

async function activeOwner(tx: Context, id: string) {
  const owner = await rows.staffById(tx, id);
  if (owner?.status !== 'active') throw invalid('ownerId', 'Not an active member of staff of the dealership.');
  return owner;
}

/** A test key acts as the sandbox's own user, so its owner's permissions do not limit it. */
function scopesFor(
  asked: 'all' | readonly KnownScope[],
  permissions: ReturnType<typeof permissionsOf>,
  environment: 'live' | 'test',
): KnownScope[] {
  const allowed = environment === 'test' ? secretScopes : effectiveScopes(secretScopes, permissions);
  if (asked === 'all') return allowed;
  const beyond = asked.filter((scope) => !allowed.includes(scope));
  if (beyond.length > 0) throw invalid('scopes', `The owner’s permissions do not cover ${beyond.join(', ')}.`);
  return [...new Set(asked)];
}

async function checkBranches(tx: Context, environment: 'live' | 'test', ids: readonly string[]): Promise<void> {
  const unknown = environment === 'live' ? await rows.unknownBranches(tx, ids) : await rows.unknownSandboxBranches(tx, ids);
  if (unknown.length > 0) throw invalid('branchIds', `Not a branch: ${unknown.join(', ')}.`);
}
