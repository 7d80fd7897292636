export { disableEndpoints, followPlan } from './commands.ts';
export { countEndpoints } from './queries.ts';
