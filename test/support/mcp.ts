import assert from 'node:assert/strict';
import type { FastifyInstance } from 'fastify';
import type { Code } from '#platform/errors.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
type Json = any;

/** An answer of the MCP endpoint. */
export interface McpAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Null for no body. */
  readonly body: Json;
}

export interface Mcp {
  /** Sends these bytes. */
  raw(body: string | Buffer, headers?: Record<string, string>): Promise<McpAnswer>;
  /** Sends this message. */
  send(message: unknown, headers?: Record<string, string>): Promise<McpAnswer>;
  /** The result of a request. */
  result(method: string, params?: object): Promise<Json>;
  /** What a tool answers, once its text was seen to say the same. */
  call(tool: string, input?: object, headers?: Record<string, string>): Promise<Json>;
  /** The standard body in what a tool refuses. */
  refuses(tool: string, input: unknown, code: Code, headers?: Record<string, string>): Promise<Json>;
  /** The names of the tools that are listed. */
  tools(): Promise<string[]>;
}

/** Speaks to the MCP endpoint with a key. */
export function assistant(app: FastifyInstance, key: string | null): Mcp {
  let requests = 0;
  const raw = async (body: string | Buffer, headers: Record<string, string> = {}): Promise<McpAnswer> => {
    const response = await app.inject({
      method: 'POST',
      url: '/v1/mcp',
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }), ...headers },
      payload: body,
    });
    return {
      status: response.statusCode,
      headers: response.headers as Record<string, string>,
      body: response.payload === '' ? null : JSON.parse(response.payload),
    };
  };
  const send = (message: unknown, headers?: Record<string, string>) => raw(JSON.stringify(message), headers);
  const result = async (method: string, params?: object, headers?: Record<string, string>): Promise<Json> => {
    const id = ++requests;
    const { status, body } = await send({ jsonrpc: '2.0', id, method, ...(params && { params }) }, headers);
    assert.deepEqual([status, body.jsonrpc, body.id], [200, '2.0', id], JSON.stringify(body));
    assert.ok('result' in body, JSON.stringify(body));
    return body.result;
  };
  return {
    raw,
    send,
    result,
    async call(name, input = {}, headers) {
      const { content, structuredContent, isError } = await result('tools/call', { name, arguments: input }, headers);
      assert.equal(isError, undefined, JSON.stringify(content));
      assert.deepEqual(JSON.parse(content[0].text), structuredContent);
      return structuredContent;
    },
    async refuses(name, input, code, headers) {
      const { content, structuredContent, isError } = await result('tools/call', { name, arguments: input }, headers);
      assert.equal(isError, true, JSON.stringify(content));
      assert.equal(structuredContent, undefined);
      const body = JSON.parse(content[0].text);
      assert.deepEqual([body.success, body.code], [false, code], content[0].text);
      return body;
    },
    tools: async () => (await result('tools/list')).tools.map(({ name }: { name: string }) => name),
  };
}
