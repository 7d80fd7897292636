import type { KnownScope } from '#modules/staff/contract.ts';
import { permissionsOf } from '#modules/staff/index.ts';
import { visitorOf } from '#platform/addresses.ts';
import type { Identity, Known } from '#platform/doors.ts';
import { Refusal } from '#platform/errors.ts';
import type { Branches } from '#platform/reach.ts';
import type { Service } from '#platform/service.ts';
import { readKeyText, readTokenText } from './key-text.ts';
import type { Asked, Found, FoundKey, Used } from './queries.ts';
import { identifyAll, saveLastUsed, saveLastUsedByApps } from './queries.ts';
import { effectiveBranches, effectiveScopes, standingOf, whyClosed } from './rules.ts';

interface Waiting extends Asked {
  readonly ip: string;
  readonly sent: boolean;
  readonly resolve: (identity: Identity) => void;
  readonly reject: (error: unknown) => void;
}

export interface Identifier {
  identify(token: string | null, ip: string): Promise<Identity>;
  /** Writes down what was used last and stops. */
  close(): Promise<void>;
}

/** In one statement. */
const most = 256;
const flushMs = 30_000;

/**
 * Says who asks. Nothing is cached: every request is looked up. Those that arrive together, or while a statement is
 * under way, share the next one, so under load one statement answers for many.
 */
export function identifier({ pools, clock }: Service): Identifier {
  const waiting: Waiting[] = [];
  const used = new Map<string, Used & { kind: FoundKey['kind'] }>();
  let busy = false;

  const flush = async () => {
    if (used.size === 0) return;
    const rows = [...used.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    used.clear();
    const [byApps, byKeys] = [rows.filter(({ kind }) => kind === 'oauth'), rows.filter(({ kind }) => kind !== 'oauth')];
    if (byKeys.length > 0) await saveLastUsed(pools.doors, byKeys);
    if (byApps.length > 0) await saveLastUsedByApps(pools.doors, byApps);
  };
  const timer = setInterval(() => void flush().catch(() => undefined), flushMs).unref();

  const next = () => {
    if (waiting.length === 0) {
      busy = false;
      return;
    }
    void answerAll(waiting.splice(0, most)).finally(() => setImmediate(next));
  };

  const answerAll = async (batch: readonly Waiting[]) => {
    try {
      const found = await identifyAll(pools.doors, batch, clock());
      batch.forEach((asked, i) => {
        const identity = identityOf(asked.sent, found[i]!);
        const key = identity.known && found[i]!.key;
        if (key) used.set(key.id, { kind: key.kind, dealerId: key.calling_dealer_id, id: key.id, at: identity.now, ip: asked.ip });
        asked.resolve(identity);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  return {
    identify: (token, ip) =>
      new Promise((resolve, reject) => {
        const sent = token !== null;
        waiting.push({ ...lookUpBy(token ?? ''), visitor: visitorOf(ip), ip, sent, resolve, reject });
        if (busy) return;
        busy = true;
        setImmediate(next); // Whoever's request was read in the same turn of the event loop comes along.
      }),
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** What finds the key, or the access token, that was sent. */
function lookUpBy(sent: string): Pick<Asked, 'lookup' | 'hash' | 'token'> {
  const token = readTokenText(sent);
  return { lookup: null, hash: null, ...readKeyText(sent), token: token?.kind === 'oat' ? token.hash : null };
}

function identityOf(sent: boolean, found: Found): Identity {
  const allowance = standingOf(found.position, found.allowed, found.reset_seconds);
  const base = { now: found.now, allowance };
  if (!found.key) return { ...base, refusal: new Refusal(sent ? 'invalid_api_key' : 'missing_api_key'), known: null };
  const closed = whyClosed(found.key);
  return { ...base, refusal: closed && new Refusal(closed), known: knownOf(found.key, found.allowed) };
}

function knownOf(key: FoundKey, rateLimit: number): Known {
  const granted = key.scopes as KnownScope[];
  const permissions =
    key.owner_role === null ? [] : permissionsOf({ role: key.owner_role, granted: key.owner_granted, withheld: key.owner_withheld });
  return {
    paid: key.plan !== 'FREE',
    ips: key.ips,
    origins: key.origins,
    dealer: {
      id: key.dealer_id,
      code: key.dealer_code,
      currency: key.currency,
      country: key.country,
      timeZone: key.time_zone,
      isSandbox: key.is_sandbox,
    },
    caller: {
      kind: key.kind,
      id: key.id,
      name: key.name,
      granted,
      scopes: effectiveScopes(granted, permissions),
      permissions,
      branches: effectiveBranches(branchesOf(key.all_branches, key.branch_ids), branchesOf(key.owner_all_branches, key.owner_branch_ids)),
      owner: { id: key.owner_id, name: key.owner_name },
      callingDealerId: key.calling_dealer_id,
      key: {
        name: key.name,
        lookup: key.lookup,
        environment: key.environment,
        rateLimit,
        expiresAt: key.expires_at,
        createdAt: key.created_at,
        app: key.app,
      },
    },
  };
}

const branchesOf = (all: boolean, ids: readonly string[]): Branches => (all ? 'all' : ids);
