import { plans } from '#modules/dealers/contract.ts';
import { createBranch, createDealer, findDealer, operatorContext, operatorOf, setDealer } from '#modules/dealers/index.ts';
import { changeKey, dealerOfKey, issueKey, revokeKey, rollKey } from '#modules/keys/index.ts';
import { registerApp, revokeApp } from '#modules/oauth/index.ts';
import { permissionCodes, roles, scopeNames, staffStatuses } from '#modules/staff/contract.ts';
import { createUser, setUser, userIdByEmail } from '#modules/staff/index.ts';
import type { Context } from '#platform/context.ts';
import { Refusal } from '#platform/errors.ts';
import type { Service } from '#platform/service.ts';
import { createDemo } from '../../app/prepare.ts';
import type { Command } from './arguments.ts';
import {
  clientCommand,
  command,
  list,
  listOrAll,
  may,
  must,
  oneOf,
  onOff,
  several,
  severalOf,
  UsageError,
  whole,
  words,
} from './arguments.ts';
import { importListings } from './import-listings.ts';

const dealer = must('CODE', words);
const email = must('E', words);
const switched = may('on|off', onOff);
const branches = may('ids|all', listOrAll);
const expires = may('ISO|never', (text) => (text === 'never' ? null : text));
const keyId = must('ID', words);

/** Everything the operator can do from a shell. */
export const commands: readonly Command[] = [
  command({
    noun: 'dealer',
    verb: 'create',
    does: 'Makes a dealership with its first branch.',
    flags: {
      name: must('N', words),
      code: must('CODE', words),
      plan: must(plans.join('|'), oneOf(plans)),
      currency: may('GBP', words),
      'time-zone': may('Europe/London', words),
    },
    run: ({ 'time-zone': timeZone, currency, ...rest }, service) =>
      createDealer(service, { ...rest, ...(currency && { currency }), ...(timeZone && { timeZone }) }),
  }),
  command({
    noun: 'dealer',
    verb: 'set',
    does: 'Changes a dealership’s plan or features; --available switches the sandbox off and on.',
    flags: {
      dealer,
      plan: may(plans.join('|'), oneOf(plans)),
      'theme-builder': switched,
      valuations: switched,
      'instant-valuations': switched,
      available: switched,
    },
    async run({ dealer, 'theme-builder': themeBuilder, 'instant-valuations': instantValuations, ...rest }, service) {
      return setDealer(await dealerNamed(service, dealer), given({ ...rest, themeBuilder, instantValuations }));
    },
  }),
  command({
    noun: 'branch',
    verb: 'create',
    does: 'Opens a branch, as far as the plan has room for it.',
    flags: { dealer, name: must('N', words), published: switched },
    async run({ dealer, name, published = true }, service) {
      const { id } = await createBranch(await dealerNamed(service, dealer), { name, published });
      return { id };
    },
  }),
  command({
    noun: 'user',
    verb: 'create',
    does: 'Takes on a member of staff.',
    flags: { dealer, email, name: must('N', words), role: must('R', oneOf(roles)), password: must('P', words), branches },
    run: async ({ dealer, ...user }, service) => createUser(await dealerNamed(service, dealer), user),
  }),
  command({
    noun: 'user',
    verb: 'set',
    does: 'Changes a member of staff: role, status, password, branches, and single permissions beside those of the role.',
    flags: {
      dealer,
      email,
      role: may('R', oneOf(roles)),
      status: may(staffStatuses.join('|'), oneOf(staffStatuses)),
      password: may('P', words),
      without: may('PERMISSIONS', severalOf(permissionCodes)),
      with: may('PERMISSIONS', severalOf(permissionCodes)),
      branches,
    },
    run: async ({ dealer, email, ...changes }, service) => setUser(await dealerNamed(service, dealer), email, given(changes)),
  }),
  command({
    noun: 'key',
    verb: 'create',
    does: 'Issues a key; it is shown this once.',
    flags: {
      dealer,
      owner: must('EMAIL', words),
      name: must('N', words),
      kind: must('secret|publishable', oneOf(['secret', 'publishable'])),
      env: must('live|test', oneOf(['live', 'test'])),
      scopes: may('a,b|all', (text) => (text === 'all' ? ('all' as const) : severalOf(scopeNames)(text))),
      branches,
      ips: may('cidrs', list),
      origins: may('list', list),
      expires,
      'rate-limit': may('N', whole),
    },
    async run({ dealer, owner, name, kind, env, branches, expires, 'rate-limit': rateLimit, ...rest }, service) {
      const ctx = await dealerNamed(service, dealer);
      const ownerId = await userNamed(ctx, owner);
      const restrictions = given({ ...rest, branchIds: branches, expiresAt: expires, rateLimit });
      return issueKey(ctx, { name, kind, environment: env, ownerId, ...restrictions });
    },
  }),
  command({
    noun: 'key',
    verb: 'set',
    does: 'Moves a key to another owner, or changes its expiry or its requests per minute.',
    flags: {
      id: keyId,
      owner: may('EMAIL', words),
      expires,
      'rate-limit': may('N|default', (text) => (text === 'default' ? null : whole(text))),
    },
    async run({ id, owner, expires, 'rate-limit': rateLimit }, service) {
      const ctx = await dealerOf(service, id);
      const ownerId = owner === undefined ? undefined : await userNamed(ctx, owner);
      return changeKey(ctx, id, given({ ownerId, expiresAt: expires, rateLimit }));
    },
  }),
  command({
    noun: 'key',
    verb: 'roll',
    does: 'Replaces a key’s secret: the old one ends at once, the new one is shown this once.',
    flags: { id: keyId },
    run: async ({ id }, service) => rollKey(await dealerOf(service, id), id),
  }),
  command({
    noun: 'key',
    verb: 'revoke',
    does: 'Ends a key for good.',
    flags: { id: keyId },
    run: async ({ id }, service) => revokeKey(await dealerOf(service, id), id),
  }),
  command({
    noun: 'app',
    verb: 'register',
    does: 'Registers a partner app; its secret is shown this once. --redirect-uri may be given several times.',
    flags: {
      name: must('N', words),
      website: must('U', words),
      logo: may('U', words),
      'redirect-uri': several('U', words),
      scopes: must('a,b', list),
    },
    async run({ 'redirect-uri': redirectUris, logo = null, ...rest }, service) {
      const { clientId, clientSecret } = await registerApp(service, { ...rest, logo, redirectUris });
      return { client_id: clientId, client_secret: clientSecret };
    },
  }),
  command({
    noun: 'app',
    verb: 'revoke',
    does: 'Ends a partner app for good, and all it was authorised to.',
    flags: { 'client-id': must('ID', words) },
    run: ({ 'client-id': clientId }, service) => revokeApp(service, clientId),
  }),
  command({
    noun: 'demo',
    verb: 'create',
    does: 'Makes the demo dealer if it is missing, and issues two fresh keys.',
    flags: { vehicles: may('N', whole) },
    run: ({ vehicles }, service) => createDemo(service, vehicles),
  }),
  clientCommand({
    noun: 'import',
    verb: 'listings',
    does: 'Imports used-car listings through POST /v1/vehicles/batch.',
    flags: { dealer, file: must('F.csv[.gz]', words), api: must('URL', words), key: must('K', words) },
    run: importListings,
  }),
];

async function dealerNamed(service: Service, code: string): Promise<Context> {
  const found = await findDealer(service, { code: code.trim().toLowerCase() });
  if (!found) throw new Refusal('not_found', `There is no dealership with the code "${code}".`);
  return operatorOf(service, found.dealer, found.now);
}

async function dealerOf(service: Service, id: string): Promise<Context> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) throw new UsageError(`--id takes the id of a key, not "${id}".`);
  const dealerId = await dealerOfKey(service.pools.doors, id);
  if (!dealerId) throw new Refusal('not_found', 'There is no key with this id.');
  return operatorContext(service, dealerId);
}

async function userNamed(ctx: Context, address: string): Promise<string> {
  const id = await userIdByEmail(ctx, address);
  if (!id) throw new Refusal('not_found', `No member of staff has the e-mail address "${address}".`);
  return id;
}

type Given<T> = { [F in keyof T]?: Exclude<T[F], undefined> };

/** Only the flags that were given. */
const given = <T extends object>(values: T): Given<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>;
