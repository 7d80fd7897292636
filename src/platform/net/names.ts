import type { Names } from './public-address.ts';

const foundMs = 30_000;
const failedMs = 5_000;
const most = 10_000;

/**
 * Asks once for what many ask: what name servers say holds for at most half a minute, and that they say nothing for a few seconds.
 * Nothing is weakened by it: an address is judged when it is connected to, however old the answer.
 */
export const rememberedNames = (names: Names, clockMs = () => performance.now()): Names =>
  ({
    resolve4: remembering((name) => names.resolve4(name), clockMs),
    resolve6: remembering((name) => names.resolve6(name), clockMs),
  }) as Names;

function remembering(ask: (name: string) => Promise<string[]>, clockMs: () => number): (name: string) => Promise<string[]> {
  const said = new Map<string, { until: number; answer: Promise<string[]> }>();
  return (name) => {
    const now = clockMs();
    const known = said.get(name);
    if (known && known.until > now) return known.answer;
    said.delete(name);
    if (said.size >= most) said.delete(said.keys().next().value!);
    // Whoever asks meanwhile waits for the same answer; how long it holds counts from the question.
    const entry = { until: now + foundMs, answer: ask(name) };
    entry.answer.catch(() => {
      entry.until = Math.min(entry.until, now + failedMs);
    });
    said.set(name, entry);
    return entry.answer;
  };
}
