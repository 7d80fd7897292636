/** The branches within reach. "All" is its own value; an empty list sees nothing of any branch. */
export type Branches = 'all' | readonly string[];

export const reaches = (branches: Branches, branchId: string): boolean => branches === 'all' || branches.includes(branchId);
