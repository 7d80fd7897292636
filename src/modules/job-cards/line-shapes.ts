import { z } from 'zod';
import { partNumber, quantity, stockStates, tradeVatRates, vatRates } from '#modules/parts/contract.ts';
import { codeOf, dateTime, id, minorUnits, money, text, whole } from '#platform/contract.ts';
import { jobLineKinds, jobLineStatuses, payTypes } from './codes.ts';

// The lines of a job card: read by the API, written by the DMS.

const hours = z
  .number({ error: 'A number.' })
  .min(0, { error: 'Must not be negative.' })
  .max(999, { error: 'At most 999.' })
  .multipleOf(0.01, { error: 'At most two decimals.' });

const given = {
  job_number: whole(1, 999).describe('Groups the lines of one job.'),
  description: text(500),
  quantity: quantity.describe('Of labour the hours sold.'),
  hours: hours.nullable().describe('The time allowed for it.'),
  unit_price: minorUnits.describe('Without VAT.'),
  discount: minorUnits.describe('Off the line, without VAT.'),
  vat_code: codeOf('vat-rates', tradeVatRates),
  pay_type: codeOf('pay-types', payTypes),
  authorised: z.boolean({ error: 'Either true or false.' }),
  technician_id: id.nullable(),
};

/** The body of a new line. A part brings its description, price and VAT with it. */
const newJobLine = z
  .strictObject({ ...given, part_number: partNumber })
  .partial()
  .extend({ kind: codeOf('job-line-kinds', jobLineKinds) })
  .superRefine(({ kind, part_number, description }, ctx) => {
    const wrong = (field: string, message: string) => ctx.addIssue({ code: 'custom', path: [field], message });
    if (kind === 'PART' && part_number === undefined) wrong('part_number', 'Required of a part.');
    if (kind !== 'PART' && part_number !== undefined) wrong('part_number', 'Only of a part.');
    if (kind !== 'PART' && description === undefined) wrong('description', 'Required.');
  });
export type NewJobLine = z.input<typeof newJobLine>;

export const newJobLines = z.array(newJobLine).max(100, { error: 'At most 100 lines at once.' });

/** The body of a change; what a line is stays: another part is another line. */
export const jobLineChanges = z
  .strictObject({ ...given, status: z.enum(jobLineStatuses, { error: `One of ${jobLineStatuses.join(', ')}.` }) })
  .partial();
export type JobLineChanges = z.input<typeof jobLineChanges>;

// ---- Response ----

const uuid = z.string().meta({ format: 'uuid' });

export const jobLine = z
  .object({
    id: uuid,
    kind: z.enum(jobLineKinds),
    job_number: z.int().describe('Groups the lines of one job.'),
    description: z.string(),
    part_number: z.string().nullable(),
    quantity: z.number().describe('To three decimals; of labour the hours sold.'),
    hours: z.number().nullable().describe('The time allowed for it.'),
    unit_price: money.describe('Without VAT.'),
    discount: money.describe('Off the line, without VAT.'),
    vat_code: z.enum(vatRates),
    net: money.describe('Quantity times price, rounded half up, less the discount.'),
    vat: money.describe('Rounded half up.'),
    gross: money,
    pay_type: z.enum(payTypes).describe('Who pays for it.'),
    authorised: z.boolean(),
    authorised_at: dateTime.nullable(),
    status: z.enum(jobLineStatuses),
    technician_id: uuid.nullable(),
    stock_state: z.enum(stockStates).describe('Of a part: whether it is put by for this card, or fitted.'),
  })
  .meta({ id: 'JobLine' });
export type JobLine = z.output<typeof jobLine>;

export const jobCardTotals = z
  .object({
    labour: money,
    parts: money,
    sublet: money,
    other: money.describe('MOT tests, fees and menu prices.'),
    discount: money,
    net: money.describe('The four before, less the discount.'),
    vat: money,
    gross: money,
    authorised: money.describe('The gross amount of the authorised lines.'),
  })
  .meta({ id: 'JobCardTotals', description: 'The sums of all lines but the declined ones, before discount and without VAT unless said.' });
export type JobCardTotals = z.output<typeof jobCardTotals>;
