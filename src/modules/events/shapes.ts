import { z } from 'zod';
import { dateTime, eventType } from '#platform/contract.ts';

/** Who did it: in the sandbox only the kind of those of other dealerships. */
const actor = z.object({
  kind: z.enum(['key', 'oauth_app', 'user', 'system', 'website']),
  id: z.string().nullable().meta({ format: 'uuid' }),
  name: z.string().nullable(),
});

/** An event as it is read and as it is delivered. */
export const event = z
  .object({
    id: z.string().describe('`evt_` and a UUID.'),
    type: z.string(),
    created_at: dateTime,
    data: z.object({
      object: z
        .looseObject({})
        .describe('What it is about as the API returned it at that moment; `GET /v1/event-types` has the schema of each type.'),
      changed: z.array(z.string()).optional().describe('The fields that differ from before; of changes alone.'),
      previous_status: z.string().optional().describe('Of `….status_changed` alone.'),
    }),
    sequence: z.int().describe('Numbers the events of the dealership without gaps, in the order in which they happened.'),
    branch_id: z.string().nullable().meta({ format: 'uuid' }),
    actor,
    request_id: z.string().nullable().describe('Of the request it came of; the events of one write share it.'),
  })
  .meta({ id: 'Event', description: 'What happened, as it is read and as it is delivered.' });

export type Event = z.output<typeof event>;

/** A type of event, and what its events look like. */
export const eventTypeDetails = z
  .object({
    type: z.string(),
    family: z.string().nullable().describe('`vehicle` of `vehicle.created`: `vehicle.*` means all of its types.'),
    summary: z.string(),
    scopes: z.array(z.string()).describe('Any one of these lets a key see it; none are needed where none are named.'),
    subscribable: z.boolean().describe('Whether a webhook endpoint can ask for it.'),
    schema: z.looseObject({}).describe('The JSON Schema of `data.object`.'),
    example: event,
  })
  .meta({ id: 'EventType', description: 'A type of event.' });

export type EventTypeDetails = z.output<typeof eventTypeDetails>;

export const ping = eventType({
  type: 'ping',
  summary: 'Sent by the test of an endpoint alone; nothing subscribes to it.',
  object: z.object({ id: z.string().meta({ format: 'uuid' }), message: z.string() }).meta({ id: 'Ping' }),
  scopes: [],
  example: { id: '6f1c2a4e-93b5-4d0f-8b7a-2f4f0d9c6e11', message: 'A test of this endpoint.' },
});
