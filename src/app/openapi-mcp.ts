import type { SchemaDeriver } from '#platform/json-schema.ts';
import { protocolError } from '#platform/mcp/operation.ts';
import { versions } from '#platform/mcp/versions.ts';
import type { ResponseObject } from './openapi-document.ts';
import { headersNamed, rateLimits } from './openapi-headers.ts';

/** What the MCP endpoint answers beside its replies. */
export const mcpResponses = (deriver: SchemaDeriver): Record<string, ResponseObject> => ({
  202: {
    description: 'A message without an `id`, or a response, was taken. There is no body.',
    headers: headersNamed('X-Request-Id', ...rateLimits),
  },
  400: {
    description: `The header \`MCP-Protocol-Version\` names a version that is not spoken: ${versions.join(', ')} are.`,
    headers: headersNamed('X-Request-Id', ...rateLimits),
    content: { 'application/json': { schema: deriver.response(protocolError), example: unspoken } },
  },
});

const unspoken = {
  jsonrpc: '2.0',
  id: 1,
  error: { code: -32600, message: `This MCP-Protocol-Version is not spoken here: ${versions.join(', ')} are.` },
};
