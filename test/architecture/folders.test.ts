import assert from 'node:assert/strict';
import { basename, dirname } from 'node:path/posix';
import { test } from 'node:test';
import { filesLike, sources } from './source.ts';

/** The files a module may have, each with one job. */
const usual = [
  ...['contract', 'codes', 'shapes', 'rules', 'queries', 'changes', 'view', 'reads', 'commands'],
  ...['routes', 'staff-routes', 'tools', 'jobs', 'index'],
];

/** What a module has beside them: parts of a very large contract, and flows that have a name of their own. */
const own: Record<string, readonly string[]> = {
  deals: ['sale'],
  dealers: ['me', 'operator', 'sandbox-plan'],
  'job-cards': ['line-shapes', 'write', 'lines'],
  invoices: ['issue', 'counter', 'sale', 'workshop', 'credit', 'document', 'pdf-link', 'source-queries'],
  keys: ['identify', 'key-text'],
  oauth: ['apps', 'authorise', 'client', 'connections', 'consent', 'metadata', 'page', 'revoke', 'token', 'token-queries'],
  reference: ['lists'],
  events: ['lists'],
  staff: ['passwords', 'attempts', 'attempt-queries', 'sessions', 'session-queries'],
  deliveries: ['claim-queries', 'settle-queries', 'log-queries'],
  webhooks: [
    ...['address', 'attempt', 'ping', 'resend', 'secret', 'subscription', 'signature', 'clients', 'courier', 'slots', 'pace', 'ledger'],
    ...['delinquency', 'delinquency-queries', 'notices', 'notice-texts', 'notice-queries'],
  ],
  vehicles: [
    'tool-shapes',
    'batch-shapes',
    'batch-queries',
    'batch',
    'batch-completion',
    'lookup',
    'photo-shapes',
    'photo-queries',
    'photo-gallery',
    'photo-staging',
    'photo-import',
    'photo-commands',
    'photo-files',
    'write',
  ],
};

const moduleFiles = () => sources().filter((path) => path.startsWith('src/modules/'));
const nameOf = (path: string) => basename(path, '.ts');

test('a module’s files have the names that say what they hold', () => {
  const odd = moduleFiles().filter((path) => ![...usual, ...(own[basename(dirname(path))] ?? [])].includes(nameOf(path)));
  assert.deepEqual(odd, []);
});

test('no name is kept for a file that is gone', () => {
  const there = new Set(moduleFiles());
  const gone = Object.entries(own).flatMap(([module, names]) =>
    names.map((name) => `src/modules/${module}/${name}.ts`).filter((path) => !there.has(path)),
  );
  assert.deepEqual(gone, []);
});

test('every module has a face', () => {
  const modules = [...new Set(moduleFiles().map(dirname))];
  assert.ok(modules.length > 0);
  assert.deepEqual(
    modules.filter((module) => !moduleFiles().includes(`${module}/index.ts`)),
    [],
  );
});

test('nothing is kept under a name that says nothing', () => {
  const vague = /(^|\/)(utils?|helpers?|lib|misc|common|shared|manager|handlers?|services?)(\.ts|\/)/;
  assert.deepEqual(
    sources().filter((path) => vague.test(path) && !['src/platform/service.ts', 'src/app/service.ts'].includes(path)),
    [],
  );
});

test('a test stands beside what it tests', () => {
  const lost = filesLike('src/**/*.test.ts').filter((path) => {
    const subject = path.replace(/\.test\.ts$/, '');
    return !sources().some(
      (source) =>
        source === `${subject}.ts` ||
        dirname(source) === subject ||
        (dirname(source) === `${dirname(path)}` && nameOf(subject) === basename(dirname(path))),
    );
  });
  assert.deepEqual(lost, []);
});

test('migrations are numbered in order, without gaps', () => {
  const names = filesLike('migrations/*').map((path) => basename(path));
  assert.ok(names.length > 0);
  for (const [i, name] of names.entries()) assert.match(name, new RegExp(`^${String(i + 1).padStart(4, '0')}_[a-z_]+\\.sql$`));
});
