import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError, parseMasterKeys } from './config.ts';

/** The keys that sign and encrypt, newest first: the configured ones, else those of the data folder, made on first use. */
export function loadMasterKeys({ masterKeys, dataDir }: Pick<Config, 'masterKeys' | 'dataDir'>): Buffer[] {
  if (masterKeys.length > 0) return masterKeys;
  const file = join(dataDir, 'master-key');
  if (!existsSync(file)) generate(dataDir, file);
  const kept = parseMasterKeys(readFileSync(file, 'utf8'));
  if (!kept) throw new ConfigError(`${file} must hold 32 bytes in base64; restore it, or set MASTER_KEY to the key that was used before.`);
  return kept;
}

/** Written beside its place and linked there: processes that start at once end with one key, and none ever reads half of it. */
function generate(dataDir: string, file: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  const fresh = `${file}.new-${process.pid}`;
  writeFileSync(fresh, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(fresh, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(fresh);
  }
}
