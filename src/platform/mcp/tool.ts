import { z } from 'zod';
import type { Context } from '../context.ts';
import type { Scope } from '../contract.ts';
import { text, whole } from '../contract.ts';
import type { Code } from '../errors.ts';
import type { JsonSchema } from '../json-schema.ts';
import { plainSchema } from '../json-schema.ts';

/** What a host may know of a tool before it lets a model call it. */
export interface Hints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

const atHome = { openWorldHint: false } as const;

/** Changes nothing. */
export const reads: Hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, ...atHome };
/** Adds something each time it is called. */
export const adds: Hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, ...atHome };
/** Puts something in the place of what was there. */
export const overwrites: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, ...atHome };

/** Something an assistant may call. It does what an operation does, by the same function, in words for a model. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Whoever was not given it is not told of the tool; null, of tools that only tests have: everyone is. */
  readonly scope: Scope | null;
  readonly hints: Hints;
  readonly input: z.ZodType;
  /** How `input` is shown, where that is not derived. */
  readonly inputSchema?: JsonSchema;
  /** An object; null where `run` makes the whole result: content other than text, which the conformance suites ask for. */
  readonly output: z.ZodType | null;
  /** What it may be refused, and what is to be done about it; what any tool is refused is said once for all. */
  readonly refusals: Readonly<Partial<Record<Code, string>>>;
  readonly run: (ctx: Context, input: unknown) => Promise<unknown>;
}

type Declared<I extends z.ZodType, O extends z.ZodType | null> = Omit<Tool, 'input' | 'output' | 'run'> & {
  readonly input: I;
  readonly output: O;
  readonly run: (ctx: Context, input: z.output<I>) => Promise<unknown>;
};

/** Declares a tool. */
export const tool = <I extends z.ZodType, O extends z.ZodType | null>(declared: Declared<I, O>): Tool => declared as unknown as Tool;

/** The arguments of a list, beside its own filters … */
export const pageInput = {
  limit: whole(1, 50).default(20).describe('How many at most, 1 to 50. 20 unless given.'),
  cursor: z
    .string()
    .optional()
    .describe('The next_cursor of the answer before, with all other arguments the same. Leave it out for the first page.'),
};

/** … and where its page ends. */
export const nextCursor = z.string().nullable().describe('Leads to the next page; null when there is none.');

/** One of these codes, to filter by. A model has no reference lists to look them up in. */
export const oneOf = <const C extends readonly [string, ...string[]]>(codes: C) =>
  z.enum(codes, { error: `Not one of ${codes.join(', ')}. Leave it out for all.` });

/** A text to filter by or to find something by. */
export const sought = (max: number) => text(max, 'Leave it out.');

/** How money is given to a tool. */
export const inMinorUnits =
  'minor units of the dealership’s currency (with two decimals 12,995.00 is 1299500; JPY has none, so 12,995 is 12995)';

/** A filter of one value, as the list that queries take. */
export const among = <T>(value: T | undefined): T[] | undefined => (value === undefined ? undefined : [value]);

/** A tool as `tools/list` shows it. */
export interface Shown {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations: Hints & { readonly title: string };
}

export const shownTool = ({ name, title, description, refusals, hints, input, inputSchema, output }: Tool): Shown => ({
  name,
  title,
  description: [description, ...adviceOf(refusals)].join('\n'),
  inputSchema: inputSchema ?? plainSchema(input, 'request'),
  ...(output && { outputSchema: plainSchema(output, 'response') }),
  annotations: { title, ...hints },
});

function* adviceOf(refusals: Tool['refusals']): Iterable<string> {
  const known = Object.entries(refusals);
  if (known.length > 0) yield '\nWhen it is refused:';
  for (const [code, advice] of known) yield `- ${code}: ${advice}`;
}
