import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Document } from './documents.ts';
import { contractOf, follow, operationsOf } from './documents.ts';
import { contract, fileOf, passingFolder, redocly, spectral } from './outsiders.ts';

const lintedByRedocly = (file: string) => redocly('lint', file, '--format', 'stylish', '--max-problems', '1000');
const lintedBySpectral = (file: string) =>
  spectral('lint', file, '--ruleset', '.spectral.yaml', '--fail-severity', 'hint', '--format', 'text');

test('redocly finds nothing to say about the contract', async () => {
  const { status, out } = await lintedByRedocly(contract);
  assert.equal(status, 0, out);
  assert.doesNotMatch(out, /\bwarnings?\b/);
});

test('spectral finds nothing to say about the contract, with rules of our own', async () => {
  const { status, out } = await lintedBySpectral(contract);
  assert.equal(status, 0, out);
});

/** The codes that no example of their refusal shows. */
const notShown = (document: Document): string[] =>
  operationsOf(document).flatMap(({ operation }) =>
    Object.values<Document>(operation.responses).flatMap((response) => {
      const { 'x-codes': codes = [], content } = follow(response, document);
      const examples = content?.['application/json']?.examples ?? {};
      const shown = (code: string) => follow(examples[code], document)?.value.code === code;
      return codes.filter((code: string) => !shown(code)).map((code: string) => `${operation.operationId}: ${code}`);
    }),
  );

test('every code of a refusal is shown by an example of its own', () => {
  assert.deepEqual(notShown(contractOf()), []);
  const document = contractOf();
  delete document.paths['/v1/vehicles'].post.responses[409].content['application/json'].examples.stock_busy;
  document.components.examples.job_card_paid.value.code = 'another';
  assert.deepEqual(notShown(document), ['vehicles.create: stock_busy', 'job_cards.update: job_card_paid']);
});

/** What makes a document break a rule; each on something of its own. */
const faults: Record<'redocly' | 'spectral', Record<string, (document: Document) => void>> = {
  redocly: {
    'no-invalid-media-type-examples': ({ paths }) => {
      paths['/v1/me'].get.responses[200].content['application/json'].example.data.plan.is_free = 'no';
    },
    'no-unresolved-refs': ({ paths }) => {
      paths['/v1/branches'].get.responses[401].$ref = '#/components/responses/Nothing';
    },
    'operation-operationId-unique': ({ paths }) => {
      paths['/v1/branches'].get.operationId = 'me.get';
    },
    'response-contains-header': ({ paths }) => {
      delete paths['/v1/reference'].get.responses[200].headers['X-Request-Id'];
    },
    'path-parameters-defined': ({ paths }) => {
      paths['/v1/branches/{id}'].get.parameters = [];
    },
    'security-defined': ({ paths }) => {
      paths['/v1/reference'].get.security = [{ another: [] }];
    },
  },
  spectral: {
    'operation-refuses-strangers': ({ paths }) => {
      delete paths['/v1/me'].get.responses[401];
    },
    'operation-on-something-may-not-find-it': ({ paths }) => {
      delete paths['/v1/branches/{id}'].get.responses[404];
    },
    'operation-names-its-keys': ({ paths }) => {
      delete paths['/v1/branches'].get['x-key-kinds'];
    },
    'operation-is-private': ({ paths }) => {
      paths['/v1/reference'].get.security = [];
    },
    'post-is-repeatable': ({ paths }) => {
      paths['/v1/vehicles'].post.parameters = [];
    },
    'refusal-names-its-codes': ({ paths }) => {
      delete paths['/v1/vehicles'].get.responses[422]['x-codes'];
    },
    'refusal-has-the-standard-body': ({ components }) => {
      components.responses.Unauthorized.content['application/json'].schema = { type: 'object' };
    },
    'refusal-has-a-body': ({ components }) => {
      delete components.responses.InternalError.content;
    },
    'refusal-shows-an-example': ({ components }) => {
      delete components.responses.TooManyRequests.content['application/json'].examples;
    },
    'success-shows-an-example': ({ paths }) => {
      delete paths['/v1/branches/{id}'].get.responses[200].content['application/json'].example;
    },
    'request-shows-an-example': ({ paths }) => {
      delete paths['/v1/vehicles/{id}/images'].post.requestBody.content['multipart/form-data'].example;
    },
  },
};

for (const [name, linted] of [
  ['redocly', lintedByRedocly],
  ['spectral', lintedBySpectral],
] as const) {
  test(`${name} would find a contract that breaks a rule`, async (t) => {
    const document = contractOf();
    for (const fault of Object.values(faults[name])) fault(document);
    const { status, out } = await linted(fileOf(passingFolder(t), 'openapi.json', document));
    assert.notEqual(status, 0);
    const unseen = Object.keys(faults[name]).filter((rule) => !out.includes(rule));
    assert.deepEqual(unseen, [], out);
  });
}
