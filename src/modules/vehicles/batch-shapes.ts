import { z } from 'zod';
import { dateTime } from '#platform/contract.ts';
import { itemPhotos } from './photo-shapes.ts';
import { batchItem } from './shapes.ts';

/** The most vehicles of one batch. */
export const batchMost = 500;

const { $schema: _dialect, ...itemSchema } = z.toJSONSchema(batchItem, { io: 'input' });

const items = z
  .array(z.unknown().meta(itemSchema), { error: 'An array of vehicles, or {"vehicles": […]}.' })
  .min(1, { error: 'At least one vehicle.' })
  .max(batchMost, { error: `At most ${batchMost} vehicles.` });

/** The array is checked, its items are not: one bad item fails alone. */
export const batchBody = z.preprocess((body) => {
  const named = typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 1 && 'vehicles' in body;
  return named ? body.vehicles : body;
}, items);

const uuid = z.string().meta({ format: 'uuid' });

const itemError = z
  .object({ code: z.string(), message: z.string(), errors: z.record(z.string(), z.array(z.string())).optional() })
  .meta({ id: 'BatchItemError' });
export type ItemError = z.output<typeof itemError>;

export const batchItemResult = z
  .object({
    index: z.int().describe('The position in the request, from 0.'),
    status: z.enum(['pending', 'succeeded', 'failed']).describe('Pending until it is written and the import of its photos has ended.'),
    operation: z.enum(['created', 'updated']).nullable(),
    matched_by: z.enum(['id', 'external_id', 'registration']).nullable(),
    vehicle_id: uuid.nullable(),
    external_id: z.string().nullable(),
    registration: z.string().nullable(),
    error: itemError.nullable(),
    warnings: z.array(z.string()).describe('`id_not_matched`: the id given is no vehicle of yours.'),
    images: itemPhotos.nullable().describe('Null when the item wrote no photos.'),
  })
  .meta({ id: 'BatchItemResult' });
export type BatchItemResult = z.output<typeof batchItemResult>;

export const batchStatuses = ['processing', 'completed'] as const;

/** A batch without its items, as lists and events show it. */
export const vehicleBatch = z
  .object({
    id: uuid,
    status: z.enum(batchStatuses),
    total: z.int(),
    created: z.int(),
    updated: z.int(),
    failed: z.int(),
    pending: z.int(),
    created_at: dateTime,
    completed_at: dateTime.nullable(),
    updated_at: dateTime,
  })
  .meta({ id: 'VehicleBatch' });
export type VehicleBatch = z.output<typeof vehicleBatch>;

export const vehicleBatchWithItems = vehicleBatch.extend({ items: z.array(batchItemResult) }).meta({ id: 'VehicleBatchWithItems' });
export type VehicleBatchWithItems = z.output<typeof vehicleBatchWithItems>;

/** What a dry run answers: the results a batch would have now. Nothing is kept, so it has no id. */
export const batchDryRun = vehicleBatchWithItems.extend({ id: z.null() }).meta({ id: 'VehicleBatchDryRun' });
export type BatchDryRun = z.output<typeof batchDryRun>;
