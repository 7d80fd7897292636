import { z } from 'zod';
import { date } from '#platform/contract.ts';
import { nextCursor, pageInput, reads, tool } from '#platform/mcp/tool.ts';
import { appointment } from './contract.ts';
import * as diary from './reads.ts';

const listAppointments = tool({
  name: 'list_appointments',
  title: 'List appointments',
  description:
    'The diary of the dealership: test drives, viewings, handovers, services. Give from and to for a day or a week; both days are included, and both are days in the dealership’s time zone, while starts_at is UTC. ' +
    'The answer is not in the order of the diary: sort it by starts_at. Cancelled appointments are listed too, with status CANCELLED. ' +
    'Appointments hold personal data: repeat no more of it than the user needs.',
  scope: 'appointments:read',
  hints: reads,
  input: z
    .strictObject({
      from: date.optional().describe('The first day, YYYY-MM-DD, such as 2026-01-31.'),
      to: date.optional().describe('The last day, YYYY-MM-DD; the whole day counts. The same as from for one day.'),
      ...pageInput,
    })
    .refine(({ from, to }) => from === undefined || to === undefined || from <= to, { path: ['to'], error: 'Earlier than from.' }),
  output: z.object({ appointments: z.array(appointment), next_cursor: nextCursor }),
  refusals: {},
  async run(ctx, { limit, cursor, from, to }) {
    const { data, meta } = await diary.listAppointments(ctx, { limit, cursor, starts_from: from, starts_to: to });
    return { appointments: data, next_cursor: meta.next_cursor };
  },
});

export const appointmentTools = [listAppointments];
