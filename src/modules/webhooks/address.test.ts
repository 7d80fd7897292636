import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Names } from '#platform/net/public-address.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { deadUrl, endpointBy } from '../../../test/support/webhooks.ts';
import { checkAddress } from './address.ts';

const path = '/v1/webhook-endpoints';

/** Addresses that are not written as one plainly is, or lead where nothing is delivered to. */
const refused = [
  'hooks.example/in',
  'http://hooks.example/in',
  'ftp://hooks.example/in',
  'https:10.0.0.1',
  'https:///hooks.example',
  'https://user:word@hooks.example/in',
  'https://hooks.example/in#part',
  'https://hooks.example:0/in',
  'https://hooks.example:65536/in',
  'https://hooks.example:x/in',
  'https://hooks.example/a b',
  'https://hooks.ex\tample/in',
  'https://hooks.example\\in',
  'https://localhost/in',
  'https://hooks/in',
  'https://0x7f000001/in',
  'https://2130706433/in',
  'https://127.1/in',
  `https://hooks.example/${'x'.repeat(2048)}`,
  'https://10.0.0.1/in',
  'https://127.0.0.2/in',
  'https://169.254.169.254/latest',
  'https://168.63.129.16/',
  'https://[::1]/in',
  'https://[::ffff:10.0.0.1]/in',
  'https://[64:ff9b::a00:1]/in',
  'https://[fd00::1]/in',
  'https://private.example/in',
  'https://mixed.example/in',
  'https://nowhere.example/in',
];

test('an endpoint is at a plainly written https address whose every address is a public one', async () => {
  const { api } = await dealership();
  const { id } = await endpointBy(api);
  for (const url of refused) {
    for (const asking of [api.post(path, { url, events: ['*'] }), api.patch(`${path}/${id}`, { url })]) {
      const { errors } = await asking.refuses(422, 'validation_failed');
      assert.deepEqual(Object.keys(errors), ['url'], url);
      assert.doesNotMatch(JSON.stringify(errors), /\d+\.\d+\.\d+|::|ENOTFOUND|resolve/, 'nothing is told of what lies behind');
    }
  }
  assert.equal((await api.get(path).succeeds()).length, 1);
  assert.equal((await api.get(`${path}/${id}`).succeeds()).url, deadUrl);
});

test('any port is taken, and an address is kept as it is called', async () => {
  const { api } = await dealership();
  const kept = async (url: string) => (await endpointBy(api, { url })).url;
  assert.equal(await kept('https://hooks.example'), 'https://hooks.example/');
  assert.equal(await kept('HTTPS://Hooks.Example:65535/In?a=ü'), 'https://hooks.example:65535/In?a=%C3%BC');
  assert.equal(await kept('https://127.0.0.1:1/in'), 'https://127.0.0.1:1/in');
});

test('names that take their time say nothing of an address: it can be asked about again', async () => {
  const { ctx } = await dealership();
  const silent = () => new Promise<never>(() => undefined);
  const names = { resolve4: silent, resolve6: silent } as unknown as Names;
  const service = { ...ctx.service, webhooksTo: { names, allow: [], ownHosts: [] } };
  await assert.rejects(checkAddress({ ...ctx, service }, 'https://silent.example/in'), { code: 'service_unavailable' });
});

test('an address that stays is not looked up again, and what the caller may not do is told before it is', async () => {
  const dealer = await dealership();
  const { id, url } = await endpointBy(dealer.api, { events: ['customer.*'] });
  await dealer.service.pools.doors.query('update webhook_endpoint set url = $2 where id = $1', [id, 'https://nowhere.example/in']);
  await dealer.api.patch(`${path}/${id}`, { url: 'https://nowhere.example/in', description: 'x' }).succeeds();
  await dealer.api.patch(`${path}/${id}`, { url }).succeeds();
  const lesser = await dealer.apiWith({ scopes: ['webhooks:manage'] });
  await lesser.patch(`${path}/${id}`, { url: 'https://private.example/in' }).refuses(403, 'insufficient_scope');
  await lesser.post(path, { url: 'https://private.example/in', events: ['customer.*'] }).refuses(403, 'insufficient_scope');
});
