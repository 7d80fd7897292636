/** The part of oidc-provider that is used here; it ships no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Token {
    save(): Promise<string>;
  }
  interface Grant extends Token {
    addOIDCScope(scope: string): void;
  }

  class Provider {
    constructor(issuer: string, settings: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    readonly Client: { find(id: string): Promise<object | undefined> };
    readonly Grant: new (
      of: object,
    ) => Grant;
    readonly RefreshToken: new (
      of: object,
    ) => Token;
    readonly AuthorizationCode: new (
      of: object,
    ) => Token;
  }
  export = Provider;
}
