import { Refusal } from '../errors.ts';
import { checkNesting, jsonIn } from '../http/body.ts';

/** What answers a request carries of it: a text or a whole number, or null where it cannot be told. */
export type MessageId = string | number | null;

/** A request of JSON-RPC 2.0. */
export interface Request {
  readonly id: MessageId;
  readonly method: string;
  /** Without what is said about the message (`_meta`), and without … */
  readonly params: Readonly<Record<string, unknown>>;
  /** … the arguments of a call, of whatever type and depth: what is wrong with them is for the tool to say. */
  readonly input: unknown;
}

export const faultCodes = { parse: -32700, invalidRequest: -32600, unknownMethod: -32601, invalidParams: -32602 } as const;

/** A message that is not of the protocol, or asks for what there is not. */
export class ProtocolFault extends Error {
  readonly code: number;
  readonly id: MessageId;
  readonly status: 200 | 400;
  constructor(fault: keyof typeof faultCodes, message: string, id: MessageId, status: 200 | 400 = 200) {
    super(message);
    this.code = faultCodes[fault];
    this.id = id;
    this.status = status;
  }
}

/** What one message asks; `id` for what is wrong with it later, `request` null where nothing is to be answered: a notification, a response. */
export interface Message {
  readonly id: MessageId;
  readonly request: Request | null;
}

/** Reads a body as exactly one message. */
export function readMessage(bytes: Buffer): Message {
  const whole = jsonIn(bytes);
  if (whole === undefined) throw new ProtocolFault('parse', 'Not valid JSON in UTF-8.', null);
  if (Array.isArray(whole)) throw wrong('Batches are not supported: send one message.', null);
  if (!isObject(whole)) throw wrong('Not a JSON-RPC message: an object is needed.', null);
  const { jsonrpc, id, method, params } = whole;
  const known = isId(id) ? id : null;
  if (jsonrpc !== '2.0') throw wrong('"jsonrpc" must be "2.0".', known);
  if (id !== undefined && known === null) throw wrong('"id" must be a text or a whole number.', null);
  if (method === undefined && isResponse(whole, known)) return { id: known, request: null };
  if (typeof method !== 'string') throw wrong('"method" must be a text.', known);
  if (params !== undefined && !isObject(params)) throw wrong('"params" must be an object.', known);
  if (id === undefined) return { id: null, request: null };
  const { _meta, arguments: input = {}, ...named } = params ?? {};
  checkDepth({ ...whole, params: named }, known);
  return { id: known, request: { id: known, method, params: named, input } };
}

const wrong = (message: string, id: MessageId) => new ProtocolFault('invalidRequest', message, id);

const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object' && !Array.isArray(value);

const isId = (value: unknown): value is string | number => typeof value === 'string' || Number.isSafeInteger(value);

/** Nothing was asked of the other side, so what it responds is taken and forgotten. */
const isResponse = (message: Record<string, unknown>, id: MessageId): boolean => id !== null && 'result' in message !== 'error' in message;

function checkDepth(message: unknown, id: MessageId): void {
  try {
    checkNesting(message);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const [field, said] = Object.entries(error.fields ?? {})[0] ?? [];
    throw wrong(`${field}: ${said?.[0]}`, id);
  }
}
