import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { redact } from '#platform/log.ts';
import { checksum, randomText } from '#platform/secrets.ts';
import { passingFolder, root, secretlint } from '../contract/outsiders.ts';
import { dealership } from '../support/dealership.ts';
import { oauthHouse } from '../support/oauth-house.ts';
import { connect } from '../support/plain-partner.ts';

// The patterns of docs/secret-scanning, as they stand there.

const shipped = (name: string) => join(root, 'docs/secret-scanning', name);
const rules = JSON.parse(readFileSync(shipped('.secretlintrc.json'), 'utf8')).rules[0].options.patterns as { patterns: string[] }[];
const ofSecretlint = rules.flatMap(({ patterns }) => patterns);
const ofGitleaks = [...readFileSync(shipped('gitleaks.toml'), 'utf8').matchAll(/^regex = '''(.*)'''$/gm)].map(
  ([, pattern = '']) => pattern,
);

/** What secretlint finds in a text with these patterns. */
async function foundIn(t: { after(undo: () => void): void }, text: string): Promise<string[]> {
  const folder = passingFolder(t);
  writeFileSync(join(folder, 'leak.txt'), text);
  const { out } = await secretlint(folder, '--secretlintrc', shipped('.secretlintrc.json'), '--format', 'json', 'leak.txt');
  const [{ messages }] = JSON.parse(out) as [{ messages: { range: [number, number] }[] }];
  return messages.map(({ range }) => text.slice(...range));
}

async function issued() {
  const { newKey } = await dealership();
  const key = async (environment: 'live' | 'test', kind: 'secret' | 'publishable') => (await newKey({ environment, kind })).key;
  const { access, refreshToken } = await connect(await oauthHouse(), ['vehicles:read']);
  return {
    secret: [await key('live', 'secret'), await key('test', 'secret'), access, refreshToken],
    open: [await key('live', 'publishable'), await key('test', 'publishable')],
  };
}

/** How a secret comes to lie in a file. */
const leaks = (secret: string) => [
  `API_KEY=${secret}`,
  `{"key":"${secret}"}`,
  `Authorization: Bearer ${secret}`,
  `https://example.com/?key=${secret}&limit=1`,
  `(${secret}).`,
  secret,
];

test('secretlint finds every secret key and token that is issued, wherever it stands, and leaves publishable keys alone', async (t) => {
  const { secret, open } = await issued();
  const text = [...secret, ...open].flatMap(leaks).join('\n');
  assert.deepEqual(
    await foundIn(t, text),
    secret.flatMap((one) => leaks(one).map(() => one)),
  );
});

test('secretlint finds nothing in what only resembles a key', async (t) => {
  const body = randomText(32);
  const like = (start: string) => `${start}${body}${checksum(`${start}${body}`)}`;
  const text = [
    ...[`svc_live_sk_${randomText(12)}_${body}`, `svc_live_sk_${randomText(11)}_${body}${randomText(6)}`, like('svc_live_sk_')],
    ...[like('svc_prod_sk_aaaaaaaaaaaa_'), like('svc_live_xk_aaaaaaaaaaaa_'), like('SVC_OAT_'), like('svc-oat-'), like('svc_oct_')],
    ...[`${like('svc_oat_')}0`, like('svc_ort_').slice(0, -1), 'svc_oat_…', 'svc_live_sk_<lookup>_<secret>', `mysvc_oat_${body}`],
  ].join('\n');
  assert.deepEqual(await foundIn(t, text), []);
});

test('gitleaks is given the patterns of secretlint', () => {
  assert.deepEqual(
    ofGitleaks.map((pattern) => `/${pattern}/g`),
    ofSecretlint,
  );
});

test('our own log blackens whatever the patterns find', async (t) => {
  const { secret } = await issued();
  const text = secret.flatMap(leaks).join('\n');
  assert.deepEqual(await foundIn(t, redact(text)), []);
  for (const one of secret) assert.ok(!redact(text).includes(one.slice(-38)));
});
