import { Refusal } from '#platform/errors.ts';
import { readCommand, UsageError } from './admin/arguments.ts';
import { commands } from './admin/commands.ts';
import { runningService } from './admin/running.ts';
import { asLines, refusalLine } from './admin/words.ts';

// `npm run -s admin -- <noun> <verb> [--flags] [--json]`: what an operator does from a shell.
try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(lineFor(error));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

async function main(words: readonly string[]): Promise<void> {
  const asked = readCommand(words, commands);
  if ('help' in asked) return console.log(asked.help);
  const { command, flags, json } = asked;
  const result = await (command.offline ? command.run(flags) : runningService((service) => command.run(flags, service)));
  console.log(json ? JSON.stringify(result) : asLines(result));
}

/** One line, whatever went wrong. */
function lineFor(error: unknown): string {
  if (error instanceof Refusal) return refusalLine(error);
  const { message, errors, code } = error as AggregateError & { code?: string };
  return (message || errors?.[0]?.message || code || String(error)).split('\n')[0] ?? '';
}
