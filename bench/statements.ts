import pg from 'pg';

/** One statement as it was sent. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** What a process sent to PostgreSQL. */
export interface Sent {
  readonly statements: readonly Statement[];
  /** How often it sent and had to wait: what is sent while an answer is on its way costs no further one. */
  readonly roundTrips: number;
}

/** Watches what this process sends to PostgreSQL while it does the work. */
export async function watch(work: () => Promise<unknown>): Promise<Sent> {
  const statements: Statement[] = [];
  const waiting = new Map<object, number>();
  let roundTrips = 0;

  const { query } = pg.Client.prototype;
  const begin = (client: object) => {
    const before = waiting.get(client) ?? 0;
    if (before === 0) roundTrips++;
    waiting.set(client, before + 1);
  };
  const end = (client: object) => void waiting.set(client, waiting.get(client)! - 1);

  pg.Client.prototype.query = function (this: pg.Client, ...sent: unknown[]) {
    statements.push(...statementsOf(sent[0], sent[1]));
    begin(this);
    const callback = sent.findLastIndex((argument) => typeof argument === 'function');
    if (callback >= 0) {
      const told = sent[callback] as (...answer: unknown[]) => void;
      sent[callback] = (...answer: unknown[]) => {
        end(this);
        told(...answer);
      };
      return Reflect.apply(query, this, sent);
    }
    const answer = Reflect.apply(query, this, sent) as unknown as Promise<unknown>;
    answer.then(
      () => end(this),
      () => end(this),
    );
    return answer;
  } as typeof query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query;
  }
  return { statements, roundTrips };
}

/** A text without values may hold several statements. */
function statementsOf(sent: unknown, given: unknown): Statement[] {
  const { text, values } = typeof sent === 'string' ? { text: sent, values: given } : (sent as { text: string; values?: unknown });
  if (Array.isArray(values)) return [{ sql: text, values }];
  return text.split(';').flatMap((sql) => (sql.trim() ? [{ sql: sql.trim(), values: [] }] : []));
}

/** What a statement does, in few words. */
export function nameOf(sql: string): string {
  const text = sql.replaceAll(/\s+/g, ' ').replaceAll('"', '').trim();
  if (text.startsWith('with clock')) return 'identify';
  if (text.includes('dealer_clock')) return 'turn';
  const [, name] = /^select (\w+)\(/.exec(text) ?? /^set local (\w+)/.exec(text) ?? [];
  if (name) return name;
  const [, written, read] = /^(?:insert into|update|delete from) (\S+)|^select .*? from (\S+)/.exec(withoutInner(text)) ?? [];
  return `${text.split(' ')[0]} ${written ?? read ?? ''}`.trim();
}

/** Without what stands in brackets, where other tables may be named first. */
function withoutInner(text: string): string {
  const shorter = text.replaceAll(/\([^()]*\)/g, '');
  return shorter === text ? text : withoutInner(shorter);
}
