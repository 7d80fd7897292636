import type { Event, EventTypeDetails } from '#modules/events/contract.ts';
import { listEventTypes } from '#modules/events/contract.ts';
import { eventTypes, familyOf, subscribable } from '#modules/events/index.ts';
import type { EventType } from '#platform/contract.ts';
import { answer } from '#platform/http/answer.ts';
import { wholeSchema } from '#platform/json-schema.ts';
import type { Examples, Shown } from './examples.ts';
import { readExamples } from './examples.ts';

/** Every type of event, derived from its declaration, with an event of the demo dealer as its example. */
export const eventTypeDetails = (shown: Examples): EventTypeDetails[] => eventTypes.map((type) => detailsOf(type, shown));

/** Where the example of a type is found among the examples: an answer to `GET /v1/events`. */
export const exampleOf = ({ type }: EventType): string => `event.${type}`;

/** The answer as an example: so long that it shows the shortest of them alone. */
export const eventTypesShown = (shown: Examples): Shown => {
  const { method, path, success } = listEventTypes;
  const data = eventTypeDetails(shown).filter(({ family }) => family === null);
  return { request: { method, path }, response: { status: success.status, headers: {}, body: { data, meta } } };
};

/** Answered here, as the examples are the application's. */
export const eventTypeRoutes = [
  answer(listEventTypes, async ({ service: { baseUrl } }) => {
    const known = byAddress.get(baseUrl) ?? eventTypeDetails(readExamples(baseUrl));
    byAddress.set(baseUrl, known);
    return known;
  }),
];

const byAddress = new Map<string, EventTypeDetails[]>();
const meta = { next_cursor: null, has_more: false };

function detailsOf(one: EventType, shown: Examples): EventTypeDetails {
  const { type, summary, scopes, object } = one;
  const found = shown.get(exampleOf(one));
  if (!found) throw new Error(`No event of the type ${type} is shown: run \`npm run derive\`.`);
  const [example] = (found.response.body as { data: Event[] }).data;
  return {
    type,
    family: familyOf(type),
    summary,
    scopes: [...scopes],
    subscribable: subscribable.includes(one),
    schema: wholeSchema(object),
    example: example!,
  };
}
