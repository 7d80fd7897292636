import { z } from 'zod';
import { eventType } from '#platform/contract.ts';

export const ping = eventType({
  type: 'ping',
  summary: 'Sent by the test of an endpoint alone; nothing subscribes to it.',
  object: z.object({ id: z.string().meta({ format: 'uuid' }), message: z.string() }).meta({ id: 'Ping' }),
  scopes: [],
});
