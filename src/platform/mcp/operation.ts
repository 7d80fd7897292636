import { z } from 'zod';
import { operation, privateKeys } from '../contract.ts';
import { versions } from './versions.ts';

const messageId = z.union([z.string(), z.int()]);

/** What is sent. What else is JSON is answered, too: with what is wrong with it. */
const message = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: messageId.optional().describe('A message without it is a notification: it is acknowledged, and never executed.'),
    method: z.string().optional().describe('`initialize`, `ping`, `tools/list` or `tools/call`.'),
    params: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'McpMessage', description: 'One JSON-RPC 2.0 message of the Model Context Protocol.' });

export const protocolError = z.object({
  jsonrpc: z.literal('2.0'),
  id: messageId.nullable().describe('That of the request; null where it cannot be told.'),
  error: z.object({ code: z.int(), message: z.string() }),
});

const result = protocolError.omit({ error: true }).extend({ result: z.record(z.string(), z.unknown()) });

const reply = z.union([result, protocolError]).meta({ id: 'McpReply', description: 'What came of a message, or what is wrong with it.' });

/** The one operation of the Model Context Protocol. */
export const sendMessage = operation({
  id: 'mcp.send',
  method: 'POST',
  path: '/v1/mcp',
  tag: 'MCP',
  summary: 'Send a message of the Model Context Protocol',
  description: [
    `Streamable HTTP with answers in JSON: one message a request, no batches, no stream, no session. Spoken are ${versions.join(', ')}.`,
    'A tool is listed and called only where the key has its scope. What a tool refuses is a result with `isError`, whose text is the standard body of a refusal, with `Retry-After` where it ends by itself.',
    'An `Idempotency-Key` stands for the method, the tool and its arguments; the `id` may differ, and the answer has the new one.',
    'Errors of the protocol are told with status 200: -32700 for what is no JSON, -32600 for what is no message, -32601 for an unknown method, -32602 for an unknown tool or cursor.',
  ].join('\n\n'),
  access: { scopes: [], kinds: privateKeys, listedPages: true },
  body: message,
  success: { status: 200, data: reply, shape: 'bare' },
  refusals: [],
  silent: 'A tool emits what the operation emits whose work it does.',
  example: { body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'stock_summary', arguments: {} } } },
});
