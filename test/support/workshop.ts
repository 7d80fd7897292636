import { randomUUID } from 'node:crypto';
import type { NewJobLine } from '#modules/job-cards/contract.ts';
import { addJobLines } from '#modules/job-cards/index.ts';
import { createPart, partStock, receiveParts } from '#modules/parts/index.ts';
import { randomText } from '#platform/secrets.ts';
import type { Dealership } from './dealership.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
type Json = any;

export const focus = { registration: 'AB12CDE', make: 'Ford', model: 'Focus' };

/** A part of the catalogue, some of which lie on the shelves of a branch. */
export async function partWith(
  { ctx, branch }: Dealership,
  onHand: number,
  branchId = branch.id,
): Promise<{ id: string; part_number: string }> {
  const part = await createPart(ctx, { part_number: `P-${randomText(8)}`, description: 'Oil filter', unit_price: 1_000 });
  if (onHand > 0) await receiveParts(ctx, { branch_id: branchId, lines: [{ part_id: part.id, quantity: onHand }] });
  return part;
}

/** An authorised line of a part. */
export const lineOf = ({ part_number }: { part_number: string }, quantity = 1): NewJobLine => ({
  kind: 'PART',
  part_number,
  quantity,
  authorised: true,
});

/** A job card with these lines; it is an ESTIMATE unless the body says more. */
export async function cardWith({ api, ctx }: Dealership, lines: NewJobLine[] = [], body: object = {}): Promise<Json> {
  const card = await api.post('/v1/job-cards', { customer_vehicle: focus, ...body }).succeeds(201);
  return lines.length > 0 ? addJobLines(ctx, card.id, lines) : card;
}

/** What a branch has of a part, as "on hand / reserved". */
export async function shelf({ ctx, branch }: Dealership, part: { id: string }, branchId = branch.id): Promise<string> {
  const stock = (await partStock(ctx, part.id)).find(({ branch_id }) => branch_id === branchId);
  return `${stock?.on_hand ?? 0}/${stock?.reserved ?? 0}`;
}

export interface MovementRow {
  readonly branch_id: string;
  readonly part_id: string;
  readonly kind: string;
  readonly on_hand: number;
  readonly reserved: number;
  readonly cause_kind: string;
  readonly cause_id: string | null;
  readonly cause_line_id: string | null;
}

/** The movements of a dealership's stock, in their order. */
export async function movementsOf({ service, id }: Dealership, part?: { id: string }): Promise<MovementRow[]> {
  const { rows } = await service.pools.doors.query(
    `select branch_id, part_id, kind, on_hand, reserved, cause_kind, cause_id, cause_line_id from stock_movement
     where dealer_id = $1 and ($2::uuid is null or part_id = $2) order by at, id`,
    [id, part?.id ?? null],
  );
  return rows;
}

/** A workshop invoice of a job card, as the table holds it. */
export async function invoiceFor(dealer: Dealership, jobCardId: string, status: string, paid = 0): Promise<string> {
  const { service, id, branch } = dealer;
  const invoiceId = randomUUID();
  await service.pools.doors.query(
    `insert into invoice (dealer_id, id, type, status, branch_id, bill_to, job_card_id, net, vat, gross, paid, vat_summary,
       margin_scheme, prices_include_vat, statements, created_at, updated_at)
     values ($1, $2, 'WORKSHOP', 'DRAFT', $3, '{}', $4, 1000, 200, 1200, 0, '[]', false, false, '{}', now(), now())`,
    [id, invoiceId, branch.id, jobCardId],
  );
  await setInvoice(dealer, invoiceId, status, paid);
  return invoiceId;
}

/** One that is neither a draft nor void has a number. */
export async function setInvoice({ service }: Dealership, invoiceId: string, status: string, paid = 0): Promise<void> {
  const number = status === 'DRAFT' || status === 'VOID' ? null : `WKS-${invoiceId}`;
  await service.pools.doors.query(
    `update invoice set status = $2, paid = $3, number = $4::text, series = case when $4::text is null then null else 'WKS' end,
       issued_on = case when $4::text is null then null else date '2099-01-01' end
     where id = $1`,
    [invoiceId, status, paid, number],
  );
}
