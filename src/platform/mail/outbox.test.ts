import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import fc from 'fast-check';
import { mailsIn } from '../../../test/support/outbox.ts';
import { folderPostbox } from './outbox.ts';
import type { Mail } from './postbox.ts';

const mail: Mail = {
  id: '0199e2a4-0000-7000-8000-000000000001',
  to: { name: 'A Member', address: 'member@dealer.example' },
  subject: 'A notice',
  text: 'One line.\nAnother.\n',
  at: '2025-10-14T08:05:00.123456Z',
};

async function outbox(t: TestContext) {
  const above = await mkdtemp(join(tmpdir(), 'forecourt-mail-'));
  t.after(() => rm(above, { recursive: true }));
  const folder = join(above, 'outbox');
  const { send } = folderPostbox({ kind: 'outbox', folder, from: { name: 'Forecourt', address: 'forecourt@dms.example' } });
  return { folder, send };
}

test('a mail becomes a file that mail programs read', async (t) => {
  const { folder, send } = await outbox(t);
  await send(mail);
  const [read] = await mailsIn(folder);
  assert.deepEqual(read?.from, { name: 'Forecourt', address: 'forecourt@dms.example' });
  assert.deepEqual(read?.to, [{ name: 'A Member', address: 'member@dealer.example' }]);
  assert.equal(read?.subject, 'A notice');
  assert.equal(read?.text, mail.text);
  assert.equal(read?.messageId, `<${mail.id}@dms.example>`);
  assert.equal(read?.date, '2025-10-14T08:05:00.000Z');
  assert.equal(read?.headers.find(({ key }) => key === 'auto-submitted')?.value, 'auto-generated');
});

test('files sort by the time of their mail, and the same mail again is the same file', async (t) => {
  const { folder, send } = await outbox(t);
  const [id, later] = ['0199e2a4-0000-7000-8000-000000000000', '2025-10-14T08:05:01.000000Z'];
  await send({ ...mail, id, at: later });
  await send(mail);
  const written = async () =>
    Promise.all((await readdir(folder)).sort().map(async (name) => [name, await readFile(join(folder, name), 'utf8')]));
  const first = await written();
  assert.deepEqual(
    first.map(([name]) => name),
    [`20251014T080500Z-${mail.id}.eml`, `20251014T080501Z-${id}.eml`],
  );
  await send(mail);
  assert.deepEqual(await written(), first);
});

test('the folder is for its owner alone', async (t) => {
  const { folder, send } = await outbox(t);
  await send(mail);
  if (process.platform !== 'win32') assert.equal((await stat(folder)).mode & 0o777, 0o700);
});

test('names, subjects and texts of any language arrive as they were written', async (t) => {
  const { folder, send } = await outbox(t);
  const name = 'Zoë Ó Súilleabháin, 王小明';
  const subject = 'Störung – „Käufer“ 🚗 '.repeat(8).trim();
  await send({ ...mail, to: { ...mail.to, name }, subject, text: `${subject}\n.\n${'ö'.repeat(2_000)}\n` });
  const [read] = await mailsIn(folder);
  assert.equal(read?.to?.[0]?.name, name);
  assert.equal(read?.subject, subject);
  assert.equal(read?.text, `${subject}\n.\n${'ö'.repeat(2_000)}\n`);
});

test('no text of others adds a header or a recipient', async (t) => {
  const { folder, send } = await outbox(t);
  const usual = [
    'auto-submitted',
    'content-transfer-encoding',
    'content-type',
    'date',
    'from',
    'message-id',
    'mime-version',
    'subject',
    'to',
  ];
  const hostile = fc.constantFrom(
    ...['\r\n', '\n', '\r', '\u2028', '\0', '"', '<x@evil.example>', ', x@evil.example', '=?utf-8?q?=0D=0ABcc:x@evil.example?='],
    ...['\r\nBcc: x@evil.example', '\r\n\r\n<p>', `\r\n${'x'.repeat(1_200)}`],
  );
  const text = fc.array(fc.oneof(hostile, fc.string({ unit: 'binary' })), { maxLength: 6 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(text, text, text, async (name, subject, body) => {
      await send({ ...mail, to: { ...mail.to, name }, subject, text: body });
      const [{ headers, from, to, cc, bcc } = assert.fail()] = await mailsIn(folder);
      const keys = headers.map(({ key }) => key);
      assert.deepEqual(new Set(keys).size, keys.length, 'each header once');
      assert.deepEqual(new Set([...usual, ...keys]), new Set(usual), 'no other');
      assert.deepEqual(
        [from?.address, to?.map(({ address }) => address), cc, bcc],
        ['forecourt@dms.example', ['member@dealer.example'], undefined, undefined],
      );
    }),
    { numRuns: 300 },
  );
});
