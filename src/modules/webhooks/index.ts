export { disableEndpoints, followPlan } from './commands.ts';
export { countEndpoints } from './queries.ts';
export type { Courier } from './courier.ts';
export { deliver } from './courier.ts';
