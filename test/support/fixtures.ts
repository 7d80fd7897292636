import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FilesPlace } from '#platform/files/store.ts';
import { createLog } from '#platform/log.ts';
import type { Outbox } from '#platform/mail/postbox.ts';
import type { PlanLimits } from '#platform/service.ts';

/** The plan limits as the product ships them. */
export const limits: PlanLimits = {
  freeStockCap: 25,
  sandboxStockCap: 500,
  sandboxStockShare: 50,
  themeQuotaStandard: 10,
  themeQuotaProfessional: 30,
};

/** One master key for all processes of a test. */
export const masterKeys = [Buffer.alloc(32, 7)];

/** Silent unless someone looks for a fault: `TEST_LOG=error`. */
export const silentLog = createLog({ level: (process.env.TEST_LOG ?? 'silent') as 'silent' });

/** Photos in tests come from this machine. */
export const imageAllowAddresses = ['127.0.0.1/32'];

/** Webhook endpoints in tests are on this machine. */
export const webhookAllowAddresses = ['127.0.0.1/32'];

/** Where the names of tests lead: `*.example` to this machine, but for some that lead where nothing may be delivered. */
export const addressesInTests = (name: string): readonly string[] =>
  ({
    'private.example': ['10.20.30.40'],
    'mixed.example': ['127.0.0.1', '10.20.30.40'],
    'nowhere.example': [],
  })[name] ?? (name.endsWith('.example') ? ['127.0.0.1'] : []);

/** A folder of its own for files. */
export const ownFiles = (): FilesPlace & { kind: 'folder' } => ({
  kind: 'folder',
  folder: mkdtempSync(join(tmpdir(), 'forecourt-files-')),
  addresses: 'http://127.0.0.1:4000/files',
});

/** A folder of its own for mail. */
export const ownOutbox = (): Outbox => ({
  kind: 'outbox',
  folder: mkdtempSync(join(tmpdir(), 'forecourt-mail-')),
  from: { name: 'Forecourt', address: 'forecourt@dms.example' },
});
