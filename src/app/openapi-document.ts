import type { Code } from '#platform/errors.ts';
import type { JsonSchema } from '#platform/json-schema.ts';

// What the OpenAPI document is made of, as far as it is read again.

export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, OperationObject>>;
  readonly components: { readonly schemas: Record<string, JsonSchema> } & Record<string, unknown>;
  readonly [member: string]: unknown;
}

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Record<string, ResponseObject>;
  readonly [member: string]: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly [member: string]: unknown;
}

export interface ResponseObject {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
  readonly 'x-codes'?: readonly Code[];
  readonly [member: string]: unknown;
}

export type Content = Record<string, { readonly schema: JsonSchema; readonly [member: string]: unknown }>;
