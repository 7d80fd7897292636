import { z } from 'zod';
import { id, text } from '#platform/contract.ts';

export * from './codes.ts';

// Purchase orders have no operation of their own in the API: this is the body of a command for staff.

export const newPurchaseOrder = z.strictObject({
  branch_id: id.optional(),
  supplier_name: text(120),
  vehicle_ids: z.array(id).max(500, { error: 'At most 500 vehicles.' }),
});
export type NewPurchaseOrder = z.input<typeof newPurchaseOrder>;
