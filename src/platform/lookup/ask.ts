/** What a provider answered: its status and its JSON. */
export interface Told {
  readonly status: number;
  readonly json: unknown;
}

const most = 1024 * 1024;

/** Asks a provider. Rejects when it does not answer whole before the signal, sends us elsewhere, says too much, or a success that is not JSON. */
export async function ask(url: string, request: RequestInit & { signal: AbortSignal }): Promise<Told> {
  const response = await fetch(url, { ...request, redirect: 'error' });
  const text = await bounded(response);
  return { status: response.status, json: response.ok ? JSON.parse(text) : null };
}

/** For an answer that is neither a vehicle nor that there is none. */
export const unexpected = ({ status }: Told): Error => new Error(`It answered ${status}.`);

/** The address that was set; one without a path is completed by the published path. */
export const at = (url: string, publishedPath: string): string =>
  new URL(url).pathname === '/' ? new URL(publishedPath, url).href : url.replace(/\/+$/, '');

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > most) throw new Error(`It answered more than ${most} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
