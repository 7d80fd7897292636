import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { event } from '#modules/events/contract.ts';
import { eventTypes } from '#modules/events/index.ts';
import { dealership } from '../../test/support/dealership.ts';

// Ajv, which nobody here wrote, holds the examples against the schemas.
const require = createRequire(import.meta.url);
const Ajv = require('ajv/dist/2020.js').default;
const addFormats = require('ajv-formats').default;

interface Details {
  type: string;
  family: string | null;
  scopes: string[];
  subscribable: boolean;
  schema: { properties: Record<string, unknown>; required: string[]; $schema: string };
  // biome-ignore lint/suspicious/noExplicitAny: an event of whatever type
  example: any;
}

test('every type of event is listed whole, with its family, its scopes and whether it can be subscribed to', async () => {
  const { api, apiWith } = await dealership();
  const { body } = await api.get('/v1/event-types');
  assert.deepEqual(body.meta, { next_cursor: null, has_more: false });
  const listed: Details[] = body.data;
  assert.deepEqual(
    listed.map(({ type, scopes }) => ({ type, scopes })),
    eventTypes.map(({ type, scopes }) => ({ type, scopes })),
  );
  assert.deepEqual(
    [...new Set(listed.map(({ family }) => family))],
    [...['vehicle', 'vehicle_batch', 'enquiry', 'customer', 'deal', 'appointment', 'job_card', 'theme_generation'], null],
  );
  assert.deepEqual(
    listed.filter(({ subscribable }) => !subscribable).map(({ type }) => type),
    ['ping'],
  );
  assert.deepEqual((await (await apiWith({ scopes: ['branches:read'] })).get('/v1/event-types')).body, body, 'whatever the scopes');
  await api.get('/v1/event-types?limit=1').refuses(422, 'validation_failed');
});

test('the example of each type is an event of that type, and its object is what the schema says', async () => {
  const { api } = await dealership();
  const ajv = new Ajv({ strict: false });
  addFormats(ajv);
  for (const { type, schema, example } of (await api.get('/v1/event-types').succeeds()) as Details[]) {
    assert.equal(example.type, type);
    assert.deepEqual(event.strict().parse(example), example, type);
    const validate = ajv.compile(schema);
    assert.ok(validate(example.data.object), `${type}: ${JSON.stringify(validate.errors)}`);
    assert.deepEqual(Object.keys(example.data.object).sort(), [...schema.required].sort(), `${type}: every field is there`);
    assert.equal('previous_status' in example.data, type.endsWith('.status_changed'), type);
    assert.ok(!validate({}), 'the schema asks for something');
  }
});
