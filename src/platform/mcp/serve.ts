import type { Context } from '../context.ts';
import type { Doors } from '../doors.ts';
import { Refusal } from '../errors.ts';
import { checked } from '../field-errors.ts';
import { checkScope } from '../http/admit.ts';
import type { Admitted, BareRoute } from '../http/answer.ts';
import { receiveBytes } from '../http/body.ts';
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
  readonly permissionBehind: Doors['permissionBehind'];
}

/** The Model Context Protocol over HTTP, with answers in JSON: one message, one answer, nothing kept in between. */
export const mcpEndpoint = (options: McpOptions): BareRoute => ({
  operation: sendMessage,
  async respond(ctx, admitted) {
    const outcome = await taken(ctx, admitted, options);
    return { ...outcome, body: withRequestId(outcome.body, ctx.requestId) };
  },
});

/** The life of a message: body, JSON, shape, version, method and tool, then its work, once. */
async function taken(ctx: Context, admitted: Admitted, options: McpOptions): Promise<Outcome> {
  const { message, bodyTimeoutMs } = admitted;
  const bytes = await receiveBytes(message, sendMessage.bodyLimit, bodyTimeoutMs);
  try {
    const { id, request } = readMessage(bytes);
    // A client may put its newest version before `initialize` too, where the version is only being agreed upon.
    if (request?.method !== 'initialize' && !isSpoken(message.headers['mcp-protocol-version'])) throw unspoken(id);
    if (!request) return acknowledged;
    return await answered(ctx, request, admitted, taskOf(ctx, request, options));
  } catch (error) {
    if (error instanceof ProtocolFault) return { ...answerOf(faultText(error)), status: error.status, replayed: false };
    throw error;
  }
}

async function answered(ctx: Context, { id, whole }: Request, { message, asRefused, name }: Admitted, task: Task): Promise<Outcome> {
  if (task.tool) name(task.tool.name);
  const work: Work<undefined> = {
    inside: async (ctx) => answerOf(resultText(id, await task.result(ctx))),
    // A refusal is a tool's result: the model reads what is wrong, and may do better.
    refused: (refusal) => answerOf(resultText(id, refusedText(asRefused(refusal)))),
    busy: task.tool && 'stock_busy' in task.tool.refusals ? 'stock_busy' : 'service_unavailable',
  };
  const repeat = repeatable(message, () => whole);
  try {
    return await once(ctx, repeat, work);
  } catch (error) {
    if (error instanceof Refusal && isOfTool(error)) return { ...work.refused(error), replayed: false };
    throw error;
  }
}

/** What is wrong with an earlier request of the same key, or with us, is none of the tool's results. */
const isOfTool = ({ code, status }: Refusal): boolean => status < 500 && !code.startsWith('idempotency_key');

// ---- The four methods ----

/** What a request asks to be done, as the text of its result. */
interface Task {
  readonly tool?: Tool;
  readonly result: (ctx: Context) => Promise<string>;
}

function taskOf(ctx: Context, request: Request, options: McpOptions): Task {
  const { id, method, params } = request;
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
      return callOf(ctx, request, options);
    default:
      throw new ProtocolFault('unknownMethod', 'Unknown method. There are initialize, ping, tools/list and tools/call.', id);
  }
}

const says = (result: string): Task => ({ result: async () => result });

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

function callOf(ctx: Context, { id, params }: Request, options: McpOptions): Task {
  const { name, arguments: input = {} } = params;
  if (typeof name !== 'string') throw new ProtocolFault('invalidParams', '"name" must be the name of a tool.', id);
  const tool = listed(ctx, options).find((one) => one.name === name);
  if (!tool) throw new ProtocolFault('invalidParams', `Unknown tool: ${name.slice(0, 100).toWellFormed()}`, id);
  return {
    tool,
    async result(ctx) {
      checkScope(ctx.caller, { scopes: tool.scope === null ? [] : [tool.scope] }, options);
      return toolText(tool, await tool.run(ctx, checked(tool.input, input, 'arguments')));
    },
  };
}

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
const refusedEnd = '}"}],"isError":true}}';

/** A replay too names the request it answers, so its id is written last. */
function withRequestId(body: string, requestId: string | null): string {
  if (!body.endsWith(refusedEnd)) return body;
  return `${body.slice(0, -refusedEnd.length)},\\"request_id\\":\\"${requestId}\\"${refusedEnd}`;
}

const resultText = (id: MessageId, result: string): string => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;

const faultText = ({ id, code, message }: ProtocolFault): string => JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });

const unspoken = (id: MessageId) =>
  new ProtocolFault('invalidRequest', `This MCP-Protocol-Version is not spoken here: ${versions.join(', ')} are.`, id, 400);

const answerOf = (body: string): Answer => ({ status: 200, body, location: null });

const acknowledged: Outcome = { status: 202, body: '', location: null, replayed: false };
