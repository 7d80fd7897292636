import { z } from 'zod';
import type { Operation } from '#platform/contract.ts';
import { catalogue } from '#platform/errors.ts';
import { envelope } from '#platform/http/serve.ts';
import type { JsonSchema, SchemaDeriver } from '#platform/json-schema.ts';
import { schemaDeriver } from '#platform/json-schema.ts';
import { operations } from './catalogue.ts';
import { parametersOf } from './openapi-parameters.ts';
import { errorsPage, scopesPage } from './reference-catalogues.ts';
import { cell, fieldTable, linkTo, typeOf } from './reference-fields.ts';
import { toolsOf } from './reference-tools.ts';
import { everyRequest, refusalsOf } from './refusals.ts';

/** The reference pages, by the name of their file. */
export function referencePages(): Map<string, string> {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const ofTag = (tag: string) => operations.filter((operation) => operation.tag === tag);
  return new Map([
    ['README.md', index(tags, ofTag)],
    ...tags.map((tag): [string, string] => [fileOf(tag), page(tag, ofTag(tag))]),
    ['scopes.md', scopesPage(operations)],
    ['errors.md', errorsPage(operations)],
  ]);
}

const fileOf = (tag: string): string => `${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.md`;

const addressOf = ({ method, path }: Operation): string => `\`${method} ${path}\``;

/** Parts with an empty line between them. */
const joined = (parts: readonly (string | false | undefined)[]): string => parts.filter(Boolean).join('\n\n');

const index = (tags: readonly string[], ofTag: (tag: string) => Operation[]): string =>
  `${joined([
    '# Reference',
    'Derived from the operations by `npm run derive`; the same as a document for machines is [openapi.json](../openapi.json).',
    ...tags.map(
      (tag) =>
        `## [${tag}](${fileOf(tag)})\n\n${ofTag(tag)
          .map((operation) => `- ${addressOf(operation)}: ${operation.summary}`)
          .join('\n')}`,
    ),
    '## Catalogues\n\n- [Scopes](scopes.md)\n- [Errors](errors.md)',
  ])}\n`;

function page(tag: string, operations: readonly Operation[]): string {
  const deriver = schemaDeriver();
  const sections = operations.map((operation) => section(operation, deriver));
  const components = deriver.components();
  return `${joined([
    `# ${tag}`,
    ...sections,
    toolsOf(tag),
    '## Objects',
    ...Object.entries(components).map(([name, schema]) => joined([`### ${name}`, String(schema.description ?? ''), fieldTable(schema)])),
  ])}\n`;
}

function section(operation: Operation, deriver: SchemaDeriver): string {
  return joined([
    `## ${operation.summary}`,
    addressOf(operation),
    operation.description,
    facts(operation),
    parameterTable(operation, deriver),
    bodyTable(operation, deriver),
    success(operation, deriver),
    refusalTable(operation),
  ]);
}

function facts({ id, method, access: { scopes, kinds }, emits, silent }: Operation): string {
  return [
    `- Operation: \`${id}\``,
    `- Scope: ${scopes.length > 0 ? scopes.map((scope) => `\`${scope}\``).join(' or ') : 'any key, whatever its scopes'}`,
    `- Keys: ${kinds.join(', ')}`,
    ...(method === 'POST' ? ['- Safe to repeat with an `Idempotency-Key`'] : []),
    ...(emits.length > 0 ? [`- Emits: ${emits.map((type) => `\`${type}\``).join(', ')}`] : []),
    ...(silent ? [`- Emits no event: ${silent}`] : []),
  ].join('\n');
}

function parameterTable(operation: Operation, deriver: SchemaDeriver): string {
  const rows = parametersOf(operation, deriver).map(({ name, in: place, schema, description = '' }) => {
    const { default: preset, ...type } = schema;
    const about = preset === undefined ? description : `${description} Default ${String(preset)}.`;
    return `| \`${name}\` | ${place} | ${typeOf(type)} | ${cell(about)} |`;
  });
  return rows.length > 0 ? `### Parameters\n\n| Name | In | Type | |\n|---|---|---|---|\n${rows.join('\n')}` : '';
}

function bodyTable({ body, multipart }: Operation, deriver: SchemaDeriver): string {
  if (body.type === 'undefined') return '';
  const schema = deriver.request(body);
  const many = schema.type === 'array' && `An array of ${String(schema.minItems ?? 0)} to ${String(schema.maxItems)} of these:`;
  return joined([
    '### Body',
    multipart && 'As `multipart/form-data`, part by part:',
    many,
    schema.$ref ? typeOf(schema) : fieldTable((many ? schema.items : schema) as JsonSchema),
  ]);
}

function success({ query, success: { status, data, shape, publishable, or, location } }: Operation, deriver: SchemaDeriver): string {
  deriver.response(envelope(data, shape)); // So that the page describes what surrounds the data, too.
  const object = typeOf(deriver.response(data));
  const narrow = publishable ? `; publishable keys are shown ${typeOf(deriver.response(publishable))}` : '';
  const deleted = query instanceof z.ZodObject && 'include_deleted' in query.shape ? ` or ${linkTo('Tombstone')}` : '';
  const what = {
    page: `\`data\`: a page of ${object}${deleted}${narrow}. \`meta\`: ${linkTo('PageMeta')}.`,
    list: `\`data\`: the whole list of ${object}${narrow}.`,
    one: `\`data\`: ${object}${narrow}.`,
    bare: `${object}.`,
  }[shape ?? 'one'];
  return joined([
    '### Success',
    `\`${status}\` ${what}${location ? ` \`Location\`: \`${location}\`.` : ''}`,
    or && `\`${or.status}\` ${or.description} \`data\`: ${typeOf(deriver.response(or.data))}.`,
  ]);
}

/** Its own refusals in full; what any request can meet is on the page of errors. */
function refusalTable(operation: Operation): string {
  const own = [...refusalsOf(operation).values()]
    .flat()
    .filter((code) => !everyRequest.includes(code) || operation.refusals.includes(code));
  const rows = own.map((code) => `| ${catalogue[code].status} | [\`${code}\`](errors.md#${code}) | ${cell(catalogue[code].message)} |`);
  return joined([
    '### Refusals',
    rows.length > 0 && `| Status | Code | |\n|---|---|---|\n${rows.join('\n')}`,
    `${rows.length > 0 ? 'And those' : 'Those'} [any request](errors.md) can meet.`,
  ]);
}
