export { disableEndpoints, disableEndpointsOfApp, followPlan } from './commands.ts';
export type { Courier } from './courier.ts';
export { deliver } from './courier.ts';
export { notify } from './notices.ts';
export { countEndpoints } from './queries.ts';
