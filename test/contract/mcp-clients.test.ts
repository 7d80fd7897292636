import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createMCPClient } from '@ai-sdk/mcp';
import { Client as ClientOfTwo, StreamableHTTPClientTransport as TransportOfTwo } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import { mcpServer } from '../support/mcp-server.ts';

// Clients nobody here wrote. Each validates what a tool answers against the schema the tool was listed with.

const info = { name: 'judge', version: '1' };
let home: Dealership;
let vehicleId: string;
let enquiryId: string;

/** What each tool is called with. */
const calls = (): Record<string, Record<string, unknown>> => ({
  search_vehicles: { status: 'FOR_SALE', make: 'ford', limit: 5 },
  get_vehicle: { id: vehicleId },
  update_vehicle_price: { id: vehicleId, asking_price: 1_299_500 },
  stock_summary: {},
  list_enquiries: { status: 'NEW' },
  get_enquiry: { id: enquiryId },
  create_enquiry: {
    contact: { first_name: 'Alex', last_name: 'Rowan', email: 'alex@customer.example' },
    message: 'Is it there?',
    vehicle_id: vehicleId,
  },
  search_customers: { email: 'alex@customer.example' },
  list_appointments: { from: '2026-02-01', to: '2026-02-28' },
  list_deals: {},
});

before(async () => {
  home = await dealership();
  const { api } = home;
  const contact = { first_name: 'Alex', last_name: 'Rowan', email: 'alex@customer.example', mobile: '07700 900118' };
  ({ id: vehicleId } = await api
    .post('/v1/vehicles', {
      condition: 'USED',
      make: 'Ford',
      model: 'Fiesta',
      registration: 'AB12 CDE',
      status: 'FOR_SALE',
      asking_price: 1_349_500,
      badge_engine_size_litres: 1.1,
      features: [{ name: 'Heated seats' }],
      provenance: { outcome: 'CLEAR', checked_at: '2026-01-31T08:00:00Z' },
      costs: { purchase_price: 900_000, purchased_on: '2026-01-05' },
      metadata: { lot: '7' },
    })
    .succeeds(201));
  ({ id: enquiryId } = await api
    .post('/v1/enquiries', {
      contact,
      vehicle_id: vehicleId,
      part_exchange: { registration: 'GH34 IJK', mileage: 61_200, expected_value: 420_000 },
      finance: { interested: true, type: 'PCP', deposit: 150_000 },
      test_drive: { requested: true, preferred_at: '2026-02-07T10:00:00Z' },
      marketing_consent: { email: true, wording: 'Yes.' },
    })
    .succeeds(201));
  await api.post(`/v1/enquiries/${enquiryId}/notes`, { body: 'Rang back.' }).succeeds(201);
  await api
    .post('/v1/appointments', { type: 'TEST_DRIVE', starts_at: '2026-02-07T10:00:00Z', contact, vehicle_id: vehicleId })
    .succeeds(201);
  await api
    .post('/v1/deals', {
      enquiry_id: enquiryId,
      vehicle_id: vehicleId,
      vehicle_price: 1_299_500,
      extras: [{ kind: 'WARRANTY', unit_price: 39_900 }],
      part_exchanges: [{ registration: 'GH34 IJK', allowance: 400_000 }],
      finance: { type: 'PCP', advance: 800_000, status: 'QUOTED' },
    })
    .succeeds(201);
});

const headers = () => ({ authorization: `Bearer ${home.api.key}` });
const names = () => Object.keys(calls());

/** Asks for a version in the place of the client's newest. */
const asking =
  (version: string): typeof fetch =>
  (url, init) => {
    const body = typeof init?.body === 'string' ? JSON.parse(init.body) : null;
    if (body?.method === 'initialize') body.params.protocolVersion = version;
    return fetch(url, { ...init, ...(body && { body: JSON.stringify(body) }) });
  };

for (const [asked, agreed] of [
  [null, '2025-06-18'],
  ['2025-06-18', '2025-06-18'],
  ['2025-03-26', '2025-03-26'],
  ['2024-11-05', '2024-11-05'],
] as const) {
  test(`the SDK’s client that asks for ${asked ?? 'its newest version'} goes on with ${agreed} and calls every tool`, async (t) => {
    const { url } = await mcpServer(t);
    const sent = new Set<string | null>();
    const by = asked === null ? fetch : asking(asked);
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/v1/mcp`), {
      requestInit: { headers: headers() },
      fetch: (address, init) => {
        sent.add(new Headers(init?.headers).get('mcp-protocol-version'));
        return by(address, init);
      },
    });
    const client = new Client(info);
    await client.connect(transport as Parameters<Client['connect']>[0]);
    t.after(() => client.close());
    await client.ping();
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      names(),
    );
    for (const [name, input] of Object.entries(calls())) {
      const { isError, structuredContent } = (await client.callTool({ name, arguments: input })) as CallToolResult;
      assert.deepEqual([isError, typeof structuredContent], [undefined, 'object'], name);
    }
    const refused = (await client.callTool({ name: 'get_vehicle', arguments: {} })) as CallToolResult;
    assert.equal(refused.isError, true);
    await assert.rejects(client.callTool({ name: 'sell_everything' }), /-32602.*Unknown tool/);
    assert.ok(sent.has(agreed));
    assert.equal(client.getServerVersion()?.name, 'forecourt');
  });
}

test('the SDK’s client is told what is wrong with its key by status and body', async (t) => {
  const { url } = await mcpServer(t);
  const { key } = await home.newKey({ rateLimit: 1 });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/v1/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await assert.rejects(new Client(info).connect(transport as Parameters<Client['connect']>[0]), /rate_limited/);
});

for (const mode of ['legacy', 'auto'] as const) {
  test(`the client of the SDK’s second version in the mode ${mode} connects and calls every tool`, async (t) => {
    const { url } = await mcpServer(t);
    const client = new ClientOfTwo(info, { versionNegotiation: { mode } });
    await client.connect(new TransportOfTwo(new URL(`${url}/v1/mcp`), { requestInit: { headers: headers() } }));
    t.after(() => client.close());
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      names(),
    );
    for (const [name, input] of Object.entries(calls())) {
      const { isError, structuredContent } = await client.callTool({ name, arguments: input });
      assert.deepEqual([isError, typeof structuredContent], [undefined, 'object'], name);
    }
    const { isError } = await client.callTool({ name: 'get_vehicle', arguments: {} });
    assert.equal(isError, true);
    await assert.rejects(client.callTool({ name: 'sell_everything' }), /Unknown tool/);
  });
}

test('the AI SDK’s client connects, and makes tools of ours that a model could call', async (t) => {
  const { url } = await mcpServer(t);
  const client = await createMCPClient({ transport: { type: 'http', url: `${url}/v1/mcp`, headers: headers() } });
  t.after(() => client.close());
  const tools = await client.tools();
  assert.deepEqual(Object.keys(tools), names());
  for (const [name, input] of Object.entries(calls())) {
    const result = (await tools[name]!.execute(input, { toolCallId: name, messages: [] } as never)) as CallToolResult;
    assert.deepEqual([result.isError ?? false, typeof result.structuredContent], [false, 'object'], name);
  }
});
