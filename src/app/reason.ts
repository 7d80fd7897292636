/** Why something failed, in one line. A connection that several addresses refused carries its reasons inside. */
export function reasonOf(error: unknown): string {
  const { message, errors, code } = error as AggregateError & { code?: string };
  return (message || errors?.[0]?.message || code || String(error)).split('\n')[0] ?? '';
}
