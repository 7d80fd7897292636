import { setTimeout as delay } from 'node:timers/promises';

/** Looks again and again, gently, until the condition holds. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(10);
}
