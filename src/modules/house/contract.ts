import { z } from 'zod';

/** A branch in the record of something that lies there. */
export const branchSummary = z.object({ id: z.string().meta({ format: 'uuid' }), name: z.string() }).meta({ id: 'BranchSummary' });
export type BranchSummary = z.output<typeof branchSummary>;

/** The same as a record shows it. */
export const shownBranch = branchSummary.nullable().describe('Null without the scope `branches:read`.');
