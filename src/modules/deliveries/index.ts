export type { AttemptRow, NewAttempt, Selection } from './queries.ts';
export { attemptById, cancelDeliveries, forgetFailures, pageOfAttempts, recordAttempt, replay, sendAgain } from './queries.ts';
