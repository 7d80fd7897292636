/** The part of autocannon that is used here; it ships no types. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  namespace autocannon {
    interface Request {
      method: 'GET' | 'POST' | 'PATCH';
      path: string;
      headers?: Record<string, string>;
      body?: string;
      setupRequest?: (request: Request) => Request;
    }
    interface Options {
      url: string;
      connections: number;
      duration: number;
      requests: Request[];
    }
    interface Result {
      readonly errors: number;
      readonly timeouts: number;
      readonly non2xx: number;
      readonly statusCodeStats: Record<string, { count: number }>;
      readonly duration: number;
    }
  }

  function autocannon(options: autocannon.Options, done: (error: Error | null, result: autocannon.Result) => void): EventEmitter;
  export = autocannon;
}
