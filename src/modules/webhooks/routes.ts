import { answer, answerAfter, answerAfterIf } from '#platform/http/answer.ts';
import { createEndpoint, deleteEndpoint, rollSecret, updateEndpoint, vetChanges, vetNewEndpoint } from './commands.ts';
import * as contract from './contract.ts';
import { logPing, sendPing } from './ping.ts';
import { getDelivery, getEndpoint, listDeliveries, listEndpoints } from './reads.ts';
import { replayEvents, resendAttempt, resendEvent } from './resend.ts';

export const webhookRoutes = [
  answer(contract.listWebhookEndpoints, (ctx, { query }) => listEndpoints(ctx, query)),
  answerAfter(
    contract.createWebhookEndpoint,
    (ctx, { body }) => vetNewEndpoint(ctx, body),
    (ctx, { body }) => createEndpoint(ctx, body),
  ),
  answer(contract.getWebhookEndpoint, (ctx, { params }) => getEndpoint(ctx, params.id)),
  answerAfterIf(
    contract.updateWebhookEndpoint,
    ({ body }) => body.url !== undefined,
    (ctx, { params, body }) => vetChanges(ctx, params.id, body),
    (ctx, { params, body }) => updateEndpoint(ctx, params.id, body),
  ),
  answer(contract.deleteWebhookEndpoint, (ctx, { params }) => deleteEndpoint(ctx, params.id)),
  answer(contract.rollWebhookSecret, (ctx, { params, body }) => rollSecret(ctx, params.id, body)),
  answerAfter(
    contract.testWebhookEndpoint,
    (ctx, { params }) => sendPing(ctx, params.id),
    (ctx, { params }, sent) => logPing(ctx, params.id, sent),
  ),
  answer(contract.replayEvents, (ctx, { params, body }) => replayEvents(ctx, params.id, body)),
  answer(contract.listWebhookDeliveries, (ctx, { params, query }) => listDeliveries(ctx, params.id, query)),
  answer(contract.getWebhookDelivery, (ctx, { params }) => getDelivery(ctx, params.id, params.attempt_id)),
  answer(contract.resendWebhookDelivery, (ctx, { params }) => resendAttempt(ctx, params.id, params.attempt_id)),
  answer(contract.resendEvent, (ctx, { params, body }) => resendEvent(ctx, params.id, body.webhook_endpoint_id)),
];
