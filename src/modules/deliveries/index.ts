export type { AttemptRow, NewAttempt, Selection, Told } from './queries.ts';
export {
  attemptById,
  cancelDeliveries,
  forgetFailures,
  pageOfAttempts,
  queueDeliveries,
  recordAttempt,
  replay,
  sendAgain,
} from './queries.ts';
