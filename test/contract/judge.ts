import { createRequire } from 'node:module';
import type { Document } from './documents.ts';
import { contractOf } from './documents.ts';

// Ajv, which nobody here wrote, holds values against the schemas of the contract.

interface Ajv {
  addSchema(schema: Document, name: string): Ajv;
  compile(schema: Document): ((value: unknown) => boolean) & { errors?: unknown };
}

const require = createRequire(import.meta.url);
const Ajv2020: new (options: object) => Ajv = require('ajv/dist/2020.js').default;
const addFormats: (ajv: Ajv) => void = require('ajv-formats').default;

const document = contractOf();
const strictly = ajv({});
/** What comes as text in a query. */
const asText = ajv({ coerceTypes: true });

function ajv(options: object): Ajv {
  const made = new Ajv2020({ strict: false, allErrors: false, ...options });
  addFormats(made);
  return made.addSchema({ $id: 'contract', components: document.components }, 'contract');
}

/** What is wrong with a value, null when nothing is. */
export const wrongWith = (schema: Document, value: unknown): string | null => judged(strictly, schema, value);

/** The same for the text of a parameter. */
export const wrongWithText = (schema: Document, value: unknown): string | null =>
  judged(asText, { type: 'object', properties: { value: schema } }, { value });

function judged(by: Ajv, schema: Document, value: unknown): string | null {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"contract#/components/');
  const known = compiled.get(by) ?? new Map();
  compiled.set(by, known);
  if (!known.has(text)) known.set(text, by.compile(JSON.parse(text)));
  const validate = known.get(text);
  return validate(value) ? null : JSON.stringify(validate.errors);
}

const compiled = new Map<Ajv, Map<string, Document>>();
