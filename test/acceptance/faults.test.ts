import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from '#platform/db/connect.ts';
import type { Service } from '#platform/service.ts';
import { buildApi } from '../../src/app/api.ts';
import { dealership } from '../support/dealership.ts';
import { recordTraffic } from '../support/traffic.ts';

const { databaseUrl, service, api } = await dealership();
const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };
const pools = connect(databaseUrl);

before(() => pools.work.end());
after(() => pools.doors.end());

/** What a server that has only this is asked for, answered with its fault. */
async function answers(having: Partial<Service>) {
  const app = recordTraffic(buildApi({ service: { ...service, ...having }, baseUrl: 'http://127.0.0.1:4000', trustedProxies: [] }));
  const headers = { authorization: `Bearer ${api.key}` };
  const answers = [
    await app.inject({ url: '/v1/vehicles', headers }),
    await app.inject({ method: 'POST', url: '/v1/vehicles', headers, payload: car }),
  ];
  await app.close();
  return answers.map(({ statusCode, headers, payload }) => {
    const { code, message, request_id: id, doc_url, ...rest } = JSON.parse(payload);
    assert.deepEqual([id, rest], [headers['x-request-id'], { success: false }]);
    assert.match(doc_url, new RegExp(`#${code}$`));
    assert.doesNotMatch(message, /pool|ECONN/);
    return [statusCode, code, headers['retry-after']];
  });
}

test('a fault of the server is told without detail', async () => {
  const fault = [500, 'internal_error', undefined];
  assert.deepEqual(await answers({ pools }), [fault, fault]);
});

test('without a database the service is unavailable for a moment', async () => {
  const away = connect('postgres://nobody@127.0.0.1:1/nowhere');
  const unavailable = [503, 'service_unavailable', '5'];
  assert.deepEqual(await answers({ pools: away }), [unavailable, unavailable]);
  await away.end();
});
