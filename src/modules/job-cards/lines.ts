import { checkLinks, findLinks, linksIn, newLinks } from '#modules/links/index.ts';
import type { PartOfLine } from '#modules/parts/index.ts';
import { partsNumbered } from '#modules/parts/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { invalid, invalidFields, Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import { said } from '#platform/merge-patch.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { JobCard, JobLineChanges, NewJobLine } from './contract.ts';
import { jobLineChanges, newJobLines } from './contract.ts';
import type { JobCardRow, LineRow } from './queries.ts';
import { blankLine } from './queries.ts';
import { checkLinesOpen, wrongWithLine } from './rules.ts';
import { change, standing } from './write.ts';

// The lines of a job card, as the DMS writes them. Parts move with them as with the card's status.

/** Adds lines behind those that are there. What is wrong is said by the place of the line among the new ones. */
export async function addJobLines(ctx: Context, jobCardId: string, input: readonly NewJobLine[]): Promise<JobCard> {
  const bodies = checked(newJobLines, input);
  return onLines(ctx, jobCardId, async (tx, card) => {
    const numbers = bodies.flatMap(({ part_number }) => part_number ?? []);
    const links = bodies.flatMap((body, n) => linksIn(body, kinds).map((link) => ({ ...link, field: `${n}.${link.field}` })));
    const [parts, found] = await Promise.all([partsNumbered(tx, numbers), findLinks(tx, links)]);
    checkLinks(links, found, card.branch_id, tx.caller.branches);
    const last = card.lines.at(-1)?.position ?? 0;
    const added = bodies.map((body, n) => {
      const part = body.part_number === undefined ? undefined : parts.get(body.part_number);
      if (body.part_number !== undefined && !part) throw invalid(`${n}.part_number`, 'The dealership has no such part.');
      const own = { dealer_id: tx.dealer.id, id: uuidv7(tx.now), job_card_id: card.id, position: last + 1 + n };
      return signed(tx, blankLine, { ...blankLine, ...defaultsOf(body, part), ...said(body), ...own });
    });
    for (const [n, line] of added.entries()) checkLine(line, `${n}.`);
    return [...card.lines, ...added];
  });
}

/** Changes a line, or marks it as done or declined. What is declined is no longer authorised. */
export async function changeJobLine(ctx: Context, jobCardId: string, lineId: string, input: JobLineChanges): Promise<JobCard> {
  const body = checked(jobLineChanges, input);
  return onLines(ctx, jobCardId, async (tx, card) => {
    const before = lineOf(card, lineId);
    const links = newLinks(linksIn(body, kinds), { ...before });
    checkLinks(links, await findLinks(tx, links), card.branch_id, tx.caller.branches);
    const after = { ...before, ...said(body) };
    if (after.status === 'DECLINED') after.authorised = false;
    checkLine(after);
    return card.lines.map((line) => (line.id === lineId ? signed(tx, before, after) : line));
  });
}

/** Takes a line off the card, and gives back what was put by or fitted for it. */
export const removeJobLine = (ctx: Context, jobCardId: string, lineId: string): Promise<JobCard> =>
  onLines(ctx, jobCardId, async (_tx, card) => {
    lineOf(card, lineId);
    return card.lines.filter(({ id }) => id !== lineId);
  });

/** The customer agrees to these lines. */
export const authoriseLines = (ctx: Context, jobCardId: string, lineIds: readonly string[]): Promise<JobCard> =>
  onLines(ctx, jobCardId, async (tx, card) => {
    for (const id of lineIds) lineOf(card, id);
    return card.lines.map((line) =>
      lineIds.includes(line.id)
        ? signed(tx, line, { ...line, authorised: true, status: line.status === 'DECLINED' ? 'OPEN' : line.status })
        : line,
    );
  });

const onLines = (ctx: Context, jobCardId: string, write: (tx: Context, card: JobCardRow) => Promise<LineRow[]>): Promise<JobCard> =>
  inTransaction(
    ctx,
    async (tx) => {
      const card = await standing(tx, jobCardId);
      checkLinesOpen(card);
      return change(tx, card, { ...card, lines: await write(tx, card) });
    },
    'stock_busy',
  );

function lineOf(card: JobCardRow, lineId: string): LineRow {
  const line = card.lines.find(({ id }) => id === lineId);
  if (!line) throw new Refusal('not_found', 'The job card has no such line.');
  return line;
}

/** What a line is where it does not say so itself: the part's own, the hours of labour, the VAT of an MOT. */
const defaultsOf = ({ kind, hours }: { kind: LineRow['kind']; hours?: number | null | undefined }, part: PartOfLine | undefined) => ({
  ...(part && { part_id: part.id, description: part.description, unit_price: part.unit_price, vat_code: part.vat_code }),
  ...(kind === 'LABOUR' && hours && { quantity: hours }),
  ...(kind === 'MOT' && { vat_code: 'OUTSIDE_SCOPE' as const }),
});

/** When it was authorised. */
const signed = (tx: Context, before: LineRow, after: LineRow): LineRow => ({
  ...after,
  authorised_at: after.authorised ? (before.authorised_at ?? tx.now) : null,
});

function checkLine(line: LineRow, prefix = ''): void {
  const wrong = Object.entries(wrongWithLine(line)).map(([field, messages]) => [prefix + field, messages]);
  if (wrong.length > 0) throw invalidFields(Object.fromEntries(wrong));
}

/** What a line names. */
const kinds = { technician_id: 'staff' } as const;
