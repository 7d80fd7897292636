import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesLike, roomOf, sources, textOf } from './source.ts';

/** Who writes a table. A second writer comes with its reason. Any module may read any table in a join. */
const writers: Record<string, readonly string[]> = {
  migration: ['platform'],
  counter: ['platform'],
  stored_answer: ['platform'],
  // Its row comes into being with the dealer, and is the platform's from then on.
  dealer_clock: ['platform', 'dealers'],
  // Counted in the statement that says whose key it is, and with attempts to sign in; swept by the platform.
  allowance: ['platform', 'keys', 'staff'],
  oauth_app: ['oauth'],
  // When it was used last is written with that of keys, by whoever lets both in.
  oauth_authorisation: ['oauth', 'keys'],
  oauth_code: ['oauth'],
  oauth_access_token: ['oauth'],
  oauth_refresh_token: ['oauth'],
  dealer: ['dealers'],
  branch: ['dealers'],
  staff: ['staff'],
  staff_session: ['staff'],
  api_key: ['keys'],
  api_key_secret: ['keys'],
  reference_code: ['reference'],
  event: ['events'],
  delivery: ['deliveries'],
  delivery_attempt: ['deliveries'],
  endpoint_health: ['deliveries'],
  webhook_endpoint: ['webhooks'],
  activity: ['activity'],
  vehicle: ['vehicles'],
  vehicle_batch: ['vehicles'],
  vehicle_batch_item: ['vehicles'],
  photo_import: ['vehicles'],
  photo_import_item: ['vehicles'],
  photo_file: ['vehicles'],
  customer: ['customers'],
  customer_vehicle: ['customers'],
  enquiry: ['enquiries'],
  enquiry_note: ['enquiries'],
  part_exchange: ['enquiries'],
  appointment: ['appointments'],
  deal: ['deals'],
  part: ['parts'],
  part_stock: ['parts'],
  stock_movement: ['parts'],
  job_card: ['job-cards'],
  job_card_line: ['job-cards'],
  invoice: ['invoices'],
  invoice_line: ['invoices'],
  payment: ['invoices'],
  purchase_order: ['purchase-orders'],
};

/** The tables of which the product asks before it knows the dealer, and so not by the dealer's id. */
const directory = ['api_key_secret', 'oauth_code', 'oauth_access_token', 'oauth_refresh_token'];

test('a module writes only its own tables', () => {
  const foreign = sources().flatMap((path) =>
    writtenTables(textOf(path))
      .filter((table) => !writers[table]?.includes(roomOf(path)))
      .map((table) => `${path} writes ${table}`),
  );
  assert.deepEqual(foreign, []);
});

test('every table has a writer, and every writer listed writes it', () => {
  const written = new Map<string, Set<string>>();
  for (const path of sources())
    for (const table of writtenTables(textOf(path))) written.set(table, new Set(written.get(table)).add(roomOf(path)));
  const found = Object.fromEntries(tables().map((table) => [table, [...(written.get(table) ?? [])].sort()]));
  assert.deepEqual(found, Object.fromEntries(tables().map((table) => [table, [...(writers[table] ?? [])].sort()])));
  assert.deepEqual(Object.keys(writers).sort(), tables().sort());
});

test('every table of dealer data is behind row level security', () => {
  const open = migrations().flatMap((sql) =>
    definitions(sql)
      .filter(({ columns }) => /^\s*dealer_id\b/m.test(columns))
      .map(({ table }) => table)
      .filter((table) => !sql.includes(`call forecourt_guard('${table}')`)),
  );
  assert.deepEqual(open, []);
});

test('the key of every table of dealer data begins with the dealer', () => {
  const wrong = migrations().flatMap((sql) =>
    definitions(sql)
      .filter(({ table }) => sql.includes(`call forecourt_guard('${table}')`))
      .filter(({ columns }) => !/primary key \(dealer_id,|^\s*dealer_id uuid primary key/m.test(columns))
      .map(({ table }) => table),
  );
  assert.deepEqual(wrong, directory);
});

const migrations = (): string[] => filesLike('migrations/*.sql').map(textOf);

const definitions = (sql: string): { table: string; columns: string }[] =>
  [...sql.matchAll(/create (?:unlogged )?table (\w+) \(([\s\S]*?)\n\)/g)].map(([, table = '', columns = '']) => ({ table, columns }));

/** `migration` is made by the runner itself. */
const tables = (): string[] => ['migration', ...migrations().flatMap((sql) => definitions(sql).map(({ table }) => table))];

const statement = /\b(?:insert\s+into|update|delete\s+from|merge\s+into|truncate(?:\s+table)?)\s+(?:only\s+)?"?([a-z_]+)/gi;
const kept = /\b(?:keeperOf(?:<\w+>)?\(\{\s*table:\s*|stamperOf\()'([a-z_]+)'/g;
const builder = /\.(?:insertInto|updateTable|deleteFrom|mergeInto)\(\s*['"`]([a-z_]+)/g;

function writtenTables(source: string): string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const named = [...code.matchAll(statement), ...code.matchAll(builder), ...code.matchAll(kept)].map(([, table = '']) => table);
  const known = new Set(tables());
  return [...new Set(named)].filter((table) => known.has(table));
}
