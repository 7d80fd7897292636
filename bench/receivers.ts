import type { ChildProcess } from 'node:child_process';
import type { Ground } from './ground.ts';
import type { Seen } from './sink.ts';

/** The receivers of a measurement, in a process of their own. */
export interface Receivers {
  /** An address. */
  at(path: string): string;
  /** Counts from here on. */
  await(count: number, detailed?: boolean): Promise<void>;
  /** Resolves when this share of what is awaited has come in. */
  reached(share: number): Promise<void>;
  seen(): Promise<Seen>;
}

export async function startReceivers(ground: Ground): Promise<Receivers> {
  const { child, said } = await ground.start<{ url: string }>('sink.ts', ground.trusted.vouchFor('127.0.0.1'));
  return {
    at: (path) => `${said.url}${path}`,
    async await(count, detailed = false) {
      const begun = answer(child, ({ begun }) => begun);
      child.send({ await: count, detailed });
      await begun;
    },
    async reached(share) {
      await answer(child, ({ reached }) => reached === share);
    },
    async seen() {
      const told = answer(child, ({ seen }) => seen !== undefined);
      child.send('tell');
      return (await told).seen;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a process says whatever it was asked for
export function answer(child: ChildProcess, isIt: (said: any) => unknown): Promise<any> {
  return new Promise((resolve) => {
    const hear = (said: unknown) => {
      if (!isIt(said)) return;
      child.off('message', hear);
      resolve(said);
    };
    child.on('message', hear);
  });
}
