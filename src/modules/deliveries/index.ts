export type { Ask, Claim, Claimed } from './claim-queries.ts';
export { backlog, handBack, leaseSeconds, putOff, resumeOverdue } from './claim-queries.ts';
export {
  cancelDeliveries,
  cancelOtherTypes,
  claimDeliveries,
  endpointsInNeed,
  forgetFailures,
  nextAfter,
  queueDeliveries,
  recordAttempt,
  replay,
  sendAgain,
  settleDeliveries,
} from './commands.ts';
export type { AttemptRow, NewAttempt } from './log-queries.ts';
export { attemptById, attemptId, lastFailureOf, pageOfAttempts } from './log-queries.ts';
export type { Health, Selection } from './queries.ts';
export { healthOf, holdHealth, saveNotices } from './queries.ts';
export { disabledAfterHours, isDelinquent, noticesDue, placesLeft } from './rules.ts';
export type { DeliveryError, Ended, EndpointRef, Outcome, Settled } from './settle-queries.ts';
