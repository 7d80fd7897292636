export type { Told } from './queries.ts';
export { queueDeliveries } from './queries.ts';
