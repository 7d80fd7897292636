import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Tool } from '#platform/mcp/tool.ts';
import { reads, tool } from '#platform/mcp/tool.ts';
import type { Service } from '#platform/service.ts';
import { buildApi, listen } from '../../src/app/api.ts';
import { house } from './dealership.ts';
import { freePort } from './free-port.ts';

interface Test {
  after(undo: () => unknown): void;
}

interface Wanted {
  readonly mcpOrigins?: readonly string[];
  readonly moreTools?: readonly Tool[];
}

export interface Served {
  readonly url: string;
  readonly app: FastifyInstance;
  readonly service: Service;
}

/** The house's API on a port of its own, known by that address. What outsiders ask of it is not for the judges of our traffic. */
export async function mcpServer(t: Test, wanted: Wanted = {}): Promise<Served> {
  const { service: ofHouse } = await house();
  const url = `http://127.0.0.1:${await freePort()}`;
  const service = { ...ofHouse, baseUrl: url };
  const app = buildApi({ service, baseUrl: url, trustedProxies: [], oauthCallsPerMinute: 1_000, ...wanted });
  try {
    await listen(app, '127.0.0.1', Number(new URL(url).port));
  } catch (error) {
    await app.close();
    if ((error as { code?: string }).code === 'EADDRINUSE') return mcpServer(t, wanted); // Somebody was faster: another port.
    throw error;
  }
  t.after(() => app.close());
  return { url, app, service };
}

/** Adds a key to whatever passes, for programs that cannot send one. `lead` says where to. */
export async function keyedProxy(t: Test, key: string): Promise<{ url: string; lead(target: string): void }> {
  let to = '';
  const server = createServer((request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const onward = ask(new URL(url, to), { method, headers: { ...headers, authorization: `Bearer ${key}` } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead: (target) => {
      to = target;
    },
  };
}

// ---- The tools the conformance suite asks for ----

const fixture = (name: string, content: readonly object[], others: object = {}): Tool =>
  tool({
    name,
    title: 'Fixture',
    description: 'Asked for by the conformance suite.',
    scope: null,
    hints: reads,
    input: z.object({}),
    output: null,
    refusals: {},
    run: async () => ({ content, ...others }),
  });

const text = (said: string) => ({ type: 'text', text: said });
/** A PNG of one pixel, and a WAV without a sound. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
const image = { type: 'image', data: png, mimeType: 'image/png' };

export const fixtures: readonly Tool[] = [
  fixture('test_simple_text', [text('This is a simple text response for testing.')]),
  fixture('test_image_content', [image]),
  fixture('test_audio_content', [{ type: 'audio', data: wav, mimeType: 'audio/wav' }]),
  fixture('test_embedded_resource', [
    { type: 'resource', resource: { uri: 'test://embedded', mimeType: 'text/plain', text: 'This is an embedded resource content.' } },
  ]),
  fixture('test_multiple_content_types', [
    text('Multiple content types test:'),
    image,
    { type: 'resource', resource: { uri: 'test://mixed-content', mimeType: 'application/json', text: '{"test":"data","value":123}' } },
  ]),
  fixture('test_error_handling', [text('This tool intentionally returns an error for testing')], { isError: true }),
  {
    ...fixture('json_schema_2020_12_tool', [text('ok')]),
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
  },
];
