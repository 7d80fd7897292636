import type { Document } from './documents.ts';
import { operationsOf } from './documents.ts';

/** Mends where the last release's document was wrong about what the API does. `npm run release-contract` wants none. */
export const corrections: Readonly<Record<string, (released: Document) => void>> = {
  'values such as 2.3 are no multiple of 0.1 to a validator, and were answered all the same': ({ components: { schemas } }) => {
    for (const { properties } of [...written(schemas), schemas.Vehicle, schemas.PublicVehicle])
      delete properties.badge_engine_size_litres.anyOf[0].multipleOf;
  },
  'a list in a query took 1 to 100 values': (released) => {
    for (const { schema } of queriesOf(released)) if (schema.type === 'array') Object.assign(schema, { minItems: 1, maxItems: 100 });
  },
  'a registration was of 2 to 8 letters and digits': (released) => {
    const registration = { type: 'string', pattern: '^[\\s-]*(?:[A-Za-z0-9][\\s-]*){2,8}$' };
    for (const { name, schema } of queriesOf(released)) if (name === 'registration') schema.items = registration;
    for (const { properties } of written(released.components.schemas))
      properties.registration = { anyOf: [registration, { type: 'null' }] };
  },
  'a VIN was of 5 characters at least': (released) => {
    for (const { name, schema } of queriesOf(released)) if (name === 'vin') schema.items.minLength = 5;
    for (const { properties } of written(released.components.schemas)) properties.vin.anyOf[0].minLength = 5;
  },
  'a creation needed a make and a model, or a registration': ({ components: { schemas } }) => {
    const given = (...required: string[]) => ({
      required,
      properties: Object.fromEntries(required.map((name) => [name, { not: { type: 'null' } }])),
    });
    schemas.VehiclesCreateBody.allOf = [{ anyOf: [given('make', 'model'), given('registration')] }];
  },
};

const written = ({ VehiclesCreateBody, VehiclesUpdateBody, VehiclesBatchBody }: Document): Document[] => [
  VehiclesCreateBody,
  VehiclesUpdateBody,
  VehiclesBatchBody.items,
];

const queriesOf = (document: Document): Document[] =>
  operationsOf(document).flatMap(({ operation }) => operation.parameters.filter((parameter: Document) => parameter.in === 'query'));
