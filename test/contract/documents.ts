import { readFileSync } from 'node:fs';
import { contract, released } from './outsiders.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test alters whatever a document holds
export type Document = any;

/** The contract as it is committed: a copy to alter. */
export const contractOf = (): Document => JSON.parse(readFileSync(contract, 'utf8'));

/** The contract of the last release. */
export const releasedContract = (): Document => JSON.parse(readFileSync(released, 'utf8'));

/** An operation of a document, with its path and method. */
export interface Described {
  readonly path: string;
  readonly method: string;
  readonly operation: Document;
}

/** Every operation of a document. The endpoints of OAuth take no key and have answers of their own form: clients nobody here wrote judge them. */
export const operationsOf = (document: Document): Described[] =>
  Object.entries<Document>(document.paths)
    .filter(([path]) => !path.startsWith('/v1/oauth/'))
    .flatMap(([path, methods]) => Object.entries<Document>(methods).map(([method, operation]) => ({ path, method, operation })));

/** Something with its reference followed. */
export function follow(something: Document, document: Document): Document {
  const name = /^#\/components\/(\w+)\/(.+)$/.exec(something?.$ref ?? '');
  return name ? follow(document.components[name[1]!][name[2]!], document) : something;
}
