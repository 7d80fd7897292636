import { isDeepStrictEqual } from 'node:util';
import { jobCardChanged } from '#modules/appointments/index.ts';
import type { Chronicle } from '#modules/events/index.ts';
import { tell } from '#modules/events/index.ts';
import { moveParts } from '#modules/parts/index.ts';
import { setPreparation } from '#modules/vehicles/index.ts';
import type { Context } from '#platform/context.ts';
import { familyReader, readerOf } from '#platform/context.ts';
import { Refusal } from '#platform/errors.ts';
import type { Change } from '#platform/records.ts';
import { showing } from '#platform/records.ts';
import { settled } from './changes.ts';
import type { JobCard } from './contract.ts';
import { jobCardCreated, jobCardUpdated } from './contract.ts';
import type { JobCardRow, LineRow } from './queries.ts';
import { preparationOf, removeLines, saveJobCards, saveLines, visibleJobCard } from './queries.ts';
import { costOf, partMoves } from './rules.ts';
import { jobCardView } from './view.ts';

// What every change of a job card comes to: parts move, the card and its lines are saved, it is told, and a vehicle of the stock learns its cost.

/** A card that exists for this caller, or the refusal. */
export async function standing(tx: Context, id: string): Promise<JobCardRow> {
  const card = await visibleJobCard(tx, id);
  if (!card) throw new Refusal('not_found');
  return card;
}

/** Saves and tells a change, if it is one. `also` are fields that differ because of other records. */
export async function change(tx: Context, before: JobCardRow, after: JobCardRow, also: readonly string[] = []): Promise<JobCard> {
  const drawn = settled(before, { ...after, lines: await withParts(tx, before, after) }, tx.now);
  const change = { ...drawn, changed: [...drawn.changed, ...also] };
  if (change.changed.length > 0) await save(tx, change);
  return jobCardView(readerOf(tx))(change.after);
}

/** Saves and tells a new card, a deletion, or a change that is one. */
export async function save(tx: Context, change: Change<JobCardRow>): Promise<void> {
  const { before, after } = change;
  after.updated_at = tx.now;
  await saveJobCards(tx, [after]);
  await saveLinesThatDiffer(tx, before?.lines ?? [], after.lines);
  tell(tx, chronicle, change, jobCardView(familyReader(tx, 'workshop:read')));
  for (const appointmentId of showing(change, 'appointment_id'))
    if (appointmentId !== null) await jobCardChanged(tx, appointmentId, after.id);
  await tellPreparation(tx, change);
}

/** The lines with what they have of the stock now. */
export async function withParts(tx: Context, before: JobCardRow, after: JobCardRow): Promise<LineRow[]> {
  const moves = partMoves(before, after);
  if (moves.every(({ from, to }) => isDeepStrictEqual(from, to))) return after.lines;
  const holds = await moveParts(tx, { kind: 'job_card', id: after.id }, moves);
  return after.lines.map((line) => {
    if (!holds.has(line.id)) return line;
    const hold = holds.get(line.id) ?? null;
    return { ...line, stock_state: hold?.state ?? 'NONE', stock_branch_id: hold?.branchId ?? null };
  });
}

async function saveLinesThatDiffer(tx: Context, before: readonly LineRow[], after: readonly LineRow[]): Promise<void> {
  const known = new Map(before.map((line) => [line.id, line]));
  const kept = new Set(after.map(({ id }) => id));
  const news = after.filter((line) => !isDeepStrictEqual(known.get(line.id), line));
  const gone = before.filter(({ id }) => !kept.has(id)).map(({ id }) => id);
  if (news.length > 0) await saveLines(tx, news);
  if (gone.length > 0) await removeLines(tx, gone);
}

/** What was done for a vehicle of the stock is part of what it has cost. */
async function tellPreparation(tx: Context, { before, after, changed }: Change<JobCardRow>): Promise<void> {
  if (after.type !== 'INTERNAL' || after.vehicle_id === null) return;
  if (after.deleted_at === before?.deleted_at && !changed.includes('status') && !changed.includes('lines')) return;
  const lines = await preparationOf(tx, after.vehicle_id);
  await setPreparation(tx, after.vehicle_id, lines && costOf(lines));
}

/** Its deletion is not told. */
const chronicle: Chronicle = { record: 'job_card', created: jobCardCreated, updated: jobCardUpdated };
