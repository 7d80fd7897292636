import { appointmentRoutes } from '#modules/appointments/routes.ts';
import { appointmentTools } from '#modules/appointments/tools.ts';
import { customerRoutes } from '#modules/customers/routes.ts';
import { customerTools } from '#modules/customers/tools.ts';
import { operatorContext } from '#modules/dealers/index.ts';
import { dealerJobs } from '#modules/dealers/jobs.ts';
import { dealerRoutes } from '#modules/dealers/routes.ts';
import { dealRoutes } from '#modules/deals/routes.ts';
import { dealTools } from '#modules/deals/tools.ts';
import { enquiryRoutes } from '#modules/enquiries/routes.ts';
import { enquiryTools } from '#modules/enquiries/tools.ts';
import { eventSchedules } from '#modules/events/jobs.ts';
import { eventRoutes } from '#modules/events/routes.ts';
import { invoiceRoutes } from '#modules/invoices/routes.ts';
import { jobCardRoutes } from '#modules/job-cards/routes.ts';
import { oauthJobs, oauthSchedules } from '#modules/oauth/jobs.ts';
import { oauthEndpoints } from '#modules/oauth/routes.ts';
import { referenceRoutes } from '#modules/reference/routes.ts';
import { staffSchedules } from '#modules/staff/jobs.ts';
import { stockBookRoutes } from '#modules/stock-book/routes.ts';
import { vehicleJobs, vehicleSchedules } from '#modules/vehicles/jobs.ts';
import { vehicleRoutes } from '#modules/vehicles/routes.ts';
import { vehicleTools } from '#modules/vehicles/tools.ts';
import { webhookJobs, webhookSchedules } from '#modules/webhooks/jobs.ts';
import { webhookRoutes } from '#modules/webhooks/routes.ts';
import type { Operation } from '#platform/contract.ts';
import type { Route } from '#platform/http/answer.ts';
import { sweepAnswers } from '#platform/http/once.ts';
import type { Handler, Schedule } from '#platform/jobs/job.ts';
import { mailJobs } from '#platform/mail/job.ts';
import { sendMessage } from '#platform/mcp/operation.ts';
import type { Tool } from '#platform/mcp/tool.ts';
import { eventTypeRoutes } from './event-types.ts';
import { resetSandbox } from './prepare.ts';

/** Every operation of the API with the function that answers it, … */
export const routes: readonly Route[] = [
  ...dealerRoutes,
  ...referenceRoutes,
  ...vehicleRoutes,
  ...enquiryRoutes,
  ...customerRoutes,
  ...dealRoutes,
  ...appointmentRoutes,
  ...jobCardRoutes,
  ...invoiceRoutes,
  ...stockBookRoutes,
  ...eventRoutes,
  ...eventTypeRoutes,
  ...webhookRoutes,
];

/** … and what apps ask without a key. */
export { oauthEndpoints };

/** Every operation there is to document. */
export const operations: readonly Operation[] = [...routes.map(({ operation }) => operation), sendMessage];

/** Every tool of the MCP endpoint, in the order in which they are listed. */
export const tools: readonly Tool[] = [...vehicleTools, ...enquiryTools, ...customerTools, ...appointmentTools, ...dealTools];

/** Every job of the worker … */
export const handlers: readonly Handler[] = [...vehicleJobs, ...dealerJobs, ...webhookJobs, ...oauthJobs, ...mailJobs];

/** … and what it does by the clock. */
export const schedules: readonly Schedule[] = [
  ...vehicleSchedules,
  ...eventSchedules,
  ...staffSchedules,
  ...webhookSchedules(operatorContext),
  ...oauthSchedules,
  { name: 'answers.sweep', cron: '*/10 * * * *', run: sweepAnswers },
  { name: 'sandbox.reset', cron: '0 3 * * *', run: resetSandbox },
];
