import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const contract = join(root, 'docs', 'openapi.json');
export const released = join(root, 'docs', 'openapi-released.json');

/** How a program ended and what it said. */
export interface Verdict {
  readonly status: number;
  readonly out: string;
}

/** Programs nobody here wrote, which judge the contract and what answers by it. They ask nothing of the network. */
export const redocly = (...args: string[]): Promise<Verdict> => program('@redocly/cli', 'redocly', args);
export const spectral = (...args: string[]): Promise<Verdict> => program('@stoplight/spectral-cli', 'spectral', args);
/** Outside the repository, whose redocly.yaml is for a younger redocly than the one it carries. */
export const openapiTypescript = (...args: string[]): Promise<Verdict> =>
  program('openapi-typescript', 'openapi-typescript', args, tmpdir());
export const inspector = (...args: string[]): Promise<Verdict> =>
  program('@modelcontextprotocol/inspector', 'mcp-inspector', ['--cli', ...args]);
/** The conformance suite of the Model Context Protocol: the stable one, and the one to come, pinned. */
export const conformance = (...args: string[]): Promise<Verdict> => program('@modelcontextprotocol/conformance', 'conformance', args);
export const nextConformance = (...args: string[]): Promise<Verdict> => program('mcp-conformance-next', 'conformance', args);
export const tsc = (...args: string[]): Promise<Verdict> => program('typescript', 'tsc', args);
/** Reads the files of a folder for secrets. */
export const secretlint = (folder: string, ...args: string[]): Promise<Verdict> => program('secretlint', 'secretlint', args, folder);

/** Many times what any of them takes on a busy machine: whatever hangs is ended, and its test fails. */
export const longestMs = 300_000;

const require = createRequire(import.meta.url);

function program(name: string, command: string, args: string[], cwd = root): Promise<Verdict> {
  const manifest = join(root, 'node_modules', name, 'package.json');
  const { bin } = require(manifest);
  const script = join(dirname(manifest), bin[command] ?? bin);
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1', CI: 'true' };
  return new Promise((done) => {
    const kept = { cwd, env, maxBuffer: 256 * 1024 * 1024, timeout: longestMs, killSignal: 'SIGKILL' } as const;
    execFile(process.execPath, [script, ...args], kept, (error, stdout, stderr) => {
      const cut = error?.killed ? `Ended after ${longestMs / 1000} s.\n` : '';
      done({ status: error ? Number(error.code ?? -1) : 0, out: `${cut}${stdout}${stderr}` });
    });
  });
}

/** A folder that is gone when the test is. */
export function passingFolder(t: { after(undo: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-contract-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Writes a value as JSON and says where. */
export function fileOf(folder: string, name: string, value: unknown): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(value, null, 2));
  return file;
}
