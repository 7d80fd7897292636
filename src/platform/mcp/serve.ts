import type { Context } from '../context.ts';
import type { Refusal } from '../errors.ts';
import { checked } from '../field-errors.ts';
import { checkScope } from '../http/admit.ts';
import type { Admitted, BareRoute } from '../http/answer.ts';
import { checkNesting, checkNotEncoded, receiveBytes } from '../http/body.ts';
import type { Answer } from '../http/failures.ts';
import type { Outcome, Work } from '../http/once.ts';
import { once, repeatable } from '../http/once.ts';
import { writer } from '../wire.ts';
import type { MessageId, Request } from './message.ts';
import { ProtocolFault, readMessage } from './message.ts';
import { sendMessage } from './operation.ts';
import type { Tool } from './tool.ts';
import { shownTool } from './tool.ts';
import { isSpoken, negotiated, versions } from './versions.ts';

export interface McpOptions {
  /** In the order in which they are listed. */
  readonly tools: readonly Tool[];
  readonly server: { readonly name: string; readonly title: string; readonly version: string };
  /** What a model is told of the server before it knows its tools. */
  readonly instructions: string;
}

/** The Model Context Protocol over HTTP, with answers in JSON: one message, one answer, nothing kept in between. */
export const mcpEndpoint = (options: McpOptions): BareRoute => ({
  operation: sendMessage,
  respond: (ctx, admitted) => taken(ctx, admitted, options),
});

/** The life of a message: body, JSON, shape, version, method and tool, then its work, once. */
async function taken(ctx: Context, admitted: Admitted, options: McpOptions): Promise<Outcome> {
  const { message, bodyTimeoutMs } = admitted;
  const bytes = await receiveBytes(message, sendMessage.bodyLimit, bodyTimeoutMs);
  checkNotEncoded(message);
  try {
    const { id, request } = readMessage(bytes);
    // A client may put its newest version before `initialize` too, where the version is only being agreed upon.
    if (request?.method !== 'initialize' && !isSpoken(message.headers['mcp-protocol-version'])) throw unspoken(id);
    if (!request) return acknowledged;
    const outcome = await answered(ctx, request, admitted, options);
    return { ...outcome, body: replyText(id, outcome.body, ctx.requestId) };
  } catch (error) {
    if (error instanceof ProtocolFault) return { ...answerOf(faultText(error)), status: error.status, replayed: false };
    throw error;
  }
}

// ---- The four methods: each answers the text of a result ----

function answered(ctx: Context, request: Request, admitted: Admitted, options: McpOptions): Promise<Outcome> {
  const { id, method, params } = request;
  const { message, asRefused } = admitted;
  const says = (result: string) =>
    once(
      ctx,
      repeatable(message, () => asked(request)),
      { inside: async () => answerOf(result), refused: asRefused, busy: 'service_unavailable' },
    );
  switch (method) {
    case 'initialize':
      return says(introduction(params, options));
    case 'ping':
      return says('{}');
    case 'tools/list':
      // All are on the first page, so there is no other.
      if (params.cursor !== undefined) throw new ProtocolFault('invalidParams', 'Unknown cursor: the list has one page.', id);
      return says(`{"tools":[${listed(ctx, options).map(shownText).join(',')}]}`);
    case 'tools/call':
      return called(ctx, request, toolNamed(ctx, request, options), admitted);
    default:
      throw new ProtocolFault('unknownMethod', 'Unknown method. There are initialize, ping, tools/list and tools/call.', id);
  }
}

const introduction = ({ protocolVersion }: Request['params'], { server, instructions }: McpOptions): string =>
  JSON.stringify({
    protocolVersion: negotiated(protocolVersion),
    capabilities: { tools: { listChanged: false } },
    serverInfo: server,
    instructions,
  });

/** The tools whose scope the caller was given, be it that its owner has lost the permission behind it. */
const listed = ({ caller }: Context, { tools }: McpOptions): Tool[] =>
  tools.filter(({ scope }) => scope === null || caller.granted.includes(scope));

function toolNamed(ctx: Context, { id, params: { name } }: Request, options: McpOptions): Tool {
  if (typeof name !== 'string') throw new ProtocolFault('invalidParams', '"name" must be the name of a tool.', id);
  const tool = listed(ctx, options).find((one) => one.name === name);
  if (!tool) throw new ProtocolFault('invalidParams', `Unknown tool: ${name.slice(0, 100).toWellFormed()}`, id);
  return tool;
}

/** What a call meets is its result, a refusal and a fault of ours as well: a model reads what is wrong, and may do better. */
async function called(ctx: Context, request: Request, tool: Tool, admitted: Admitted): Promise<Outcome> {
  const { message, name, asRefused, asRefusal } = admitted;
  name(tool.name);
  const work: Work<undefined> = {
    inside: async (ctx) => answerOf(toolText(tool, await tool.run(ctx, checked(tool.input, request.input, 'arguments')))),
    refused: (refusal) => answerOf(refusedText(asRefused(refusal))),
    busy: 'stock_busy' in tool.refusals ? 'stock_busy' : 'service_unavailable',
  };
  const told = (refusal: Refusal): Outcome => ({ ...work.refused(refusal), replayed: false, retryAfterSeconds: refusal.retryAfterSeconds });
  try {
    checkNesting(request.input, 'arguments');
    // Not part of what is done once: a replay, too, needs the permission, and a call that lacked it may be repeated with it.
    checkScope(ctx.caller, { scopes: tool.scope === null ? [] : [tool.scope] }, admitted);
  } catch (error) {
    return told(asRefusal(error));
  }
  const repeat = repeatable(message, () => asked(request));
  try {
    return await once(ctx, repeat, work);
  } catch (error) {
    const refusal = asRefusal(error);
    // What is wrong with an earlier request of the same key is none of the tool's results.
    if (refusal.code.startsWith('idempotency_key')) throw refusal;
    return told(refusal);
  }
}

/** What makes a repeated request the same. A client numbers each message anew, and may say something else about it. */
const asked = ({ method, params, input }: Request) => ({ method, params, input });

// ---- What is written ----

/** A tool as it is listed, made when it is first asked for. */
function shownText(tool: Tool): string {
  const known = shownTexts.get(tool) ?? JSON.stringify(shownTool(tool));
  shownTexts.set(tool, known);
  return known;
}

const shownTexts = new WeakMap<Tool, string>();

/** The object a tool answers, as text for those that read nothing else, and as it is. */
function toolText({ output }: Tool, made: unknown): string {
  if (!output) return JSON.stringify(made);
  const json = writer(output)(made);
  return `{"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json}}`;
}

const refusedText = ({ body }: Answer): string => `{"content":[{"type":"text","text":${JSON.stringify(body)}}],"isError":true}`;

/** How the answer to a refused call ends, whose text is the standard body without its `request_id`. */
const refusedEnd = '}"}],"isError":true}';

/** Written last: a replay, too, carries the id of the message it answers, and names the request. */
function replyText(id: MessageId, result: string, requestId: string | null): string {
  const named = result.endsWith(refusedEnd)
    ? `${result.slice(0, -refusedEnd.length)},\\"request_id\\":\\"${requestId}\\"${refusedEnd}`
    : result;
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${named}}`;
}

const faultText = ({ id, code, message }: ProtocolFault): string => JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });

const unspoken = (id: MessageId) =>
  new ProtocolFault('invalidRequest', `This MCP-Protocol-Version is not spoken here: ${versions.join(', ')} are.`, id, 400);

const answerOf = (body: string): Answer => ({ status: 200, body, location: null });

const acknowledged: Outcome = { status: 202, body: '', location: null, replayed: false };
