import { z } from 'zod';
import { anyOf, branchListQuery, id, moment, operation, privateKeys } from '#platform/contract.ts';
import { eventTypes, familyOf } from './lists.ts';
import { event, eventTypeDetails } from './shapes.ts';

export * from './shapes.ts';

const tag = 'Events';
const readers = { scopes: ['events:read'], kinds: privateKeys } as const;

/** An event's id as the API shows it. */
export const eventId = (uuid: string): string => `evt_${uuid}`;

/** The UUID behind an event's id; null of what is none. */
export const readEventId = (text: string): string | null => anEvent.safeParse(text).data ?? null;

/** An event's id in a request, in whatever case, read as the UUID behind it. */
const anEvent = z
  .string()
  .regex(/^[Ee][Vv][Tt]_[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/, { error: 'Not the id of an event.' })
  .transform((text) => text.slice('evt_'.length).toLowerCase());

export const byEvent = z.strictObject({ id: anEvent });

const families = [...new Set(eventTypes.flatMap(({ type }) => familyOf(type) ?? []))].map((family) => `${family}.*`);

/** What a filter by type takes: types, families and `*`. */
export const eventEntry = z.enum([...eventTypes.map(({ type }) => type), ...families, '*'], {
  error: ({ input }) => `No type of event is called "${input}". GET /v1/event-types lists them.`,
});

export const eventListQuery = branchListQuery({
  type: anyOf(eventEntry).optional().describe('Types, families such as `vehicle.*`, or `*`; comma-separated.'),
  object_id: id.optional().describe('Only what happened to this record.'),
  updated_since: moment.optional().describe('The same as `created_since`.'),
  updated_before: moment.optional().describe('The same as `created_before`.'),
  ids: anyOf(anEvent).optional().describe('Only these events, at most 100, comma-separated.'),
  delivery_success: z
    .enum(['false'], { error: 'Only false.' })
    .optional()
    .describe('`false`: only events of which a delivery to one of your webhook endpoints waits or was tried, and has not succeeded yet.'),
});
export type EventListQuery = z.output<typeof eventListQuery>;

export const listEvents = operation({
  id: 'events.list',
  method: 'GET',
  path: '/v1/events',
  tag,
  summary: 'List events',
  description:
    'What happened in the last 30 days, the oldest first, in the form in which it is delivered. Of each family that a key’s other scopes let it read, and of its branches or of none. Go on from `meta.resume_cursor` to miss nothing; what is older is read from the lists with `updated_since`.',
  access: readers,
  query: eventListQuery,
  success: { status: 200, data: event, shape: 'page' },
  refusals: ['validation_failed'],
});

export const getEvent = operation({
  id: 'events.get',
  method: 'GET',
  path: '/v1/events/{id}',
  tag,
  summary: 'Read an event',
  access: readers,
  params: byEvent,
  success: { status: 200, data: event },
  refusals: ['not_found'],
});

export const listEventTypes = operation({
  id: 'event_types.list',
  method: 'GET',
  path: '/v1/event-types',
  tag,
  summary: 'List the types of events',
  description: 'Each with the JSON Schema of its object and an example of a whole event.',
  access: { scopes: [], kinds: privateKeys },
  success: { status: 200, data: eventTypeDetails, shape: 'list' },
  refusals: [],
});
