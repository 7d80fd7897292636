import { z } from 'zod';
import { email } from '#modules/staff/contract.ts';
import { among, reads, sought, tool } from '#platform/mcp/tool.ts';
import { customer } from './contract.ts';
import { listCustomers } from './reads.ts';

/** More than these is no answer to the question who it is. */
const most = 20;

const searchCustomers = tool({
  name: 'search_customers',
  title: 'Find customers',
  description:
    'Finds customers by e-mail address or phone number, exactly; there is no search by name. Given both, both must match. ' +
    'Use it to find out who has written or rung, for example before create_enquiry. Families share addresses, so several may be found. ' +
    'Customers are personal data: repeat no more of it than the user needs.',
  scope: 'customers:read',
  hints: reads,
  input: z
    .strictObject({
      email: email.optional().describe('The whole address, such as alex.rowan@customer.example; case does not matter.'),
      phone: sought(40).optional().describe('A phone or mobile number in any form, such as 07700 900118 or +44 7700 900118.'),
    })
    .refine(({ email, phone }) => email !== undefined || phone !== undefined, { path: ['email'], error: 'Give email, phone or both.' }),
  output: z.object({
    customers: z.array(customer).describe(`At most ${most}.`),
    has_more: z.boolean().describe('Whether more than these match. Ask for the other of e-mail and phone then, and call again with both.'),
  }),
  refusals: {},
  async run(ctx, { email, phone }) {
    const { data, meta } = await listCustomers(ctx, { limit: most, email: among(email), phone: among(phone) });
    return { customers: data, has_more: meta.has_more };
  },
});

export const customerTools = [searchCustomers];
