import { EventEmitter, once } from 'node:events';
import pg from 'pg';

/** Reads the log of the embedded PostgreSQL, which can be asked to tell of every statement. */
export function serverLog() {
  const lines: string[] = [];
  const arrived = new EventEmitter();
  const line = (text: string) => {
    lines.push(text);
    arrived.emit('line');
  };

  /** Until the log has come to this text, and what came before it. */
  const upTo = async (text: string): Promise<string[]> => {
    for (;;) {
      const at = lines.findIndex((each) => each.includes(text));
      if (at >= 0) return lines.splice(0, at + 1).slice(0, -1);
      await once(arrived, 'line');
    }
  };

  return {
    line,
    async during(adminUrl: string, work: () => Promise<unknown>): Promise<string[]> {
      const admin = new pg.Client({ connectionString: adminUrl });
      await admin.connect();
      try {
        await tellAll(admin, adminUrl, true);
        await admin.query("select 'the work begins'");
        await upTo("select 'the work begins'");
        await work();
        await admin.query("select 'the work is done'");
        return statementsOf(await upTo("select 'the work is done'"));
      } finally {
        await tellAll(admin, adminUrl, false);
        await admin.end();
      }
    },
  };
}

/** Every session takes the new setting when its next statement begins, once it was told: a session that begins with it comes after that. */
async function tellAll(admin: pg.Client, adminUrl: string, all: boolean): Promise<void> {
  await admin.query(all ? "alter system set log_statement = 'all'" : 'alter system reset log_statement');
  await admin.query('select pg_reload_conf()');
  for (let told = !all; told !== all; ) {
    const next = new pg.Client({ connectionString: adminUrl });
    await next.connect();
    const { rows } = await next.query("select current_setting('log_statement') = 'all' as every");
    await next.end();
    told = rows[0].every;
  }
}

/** A statement begins with its own line and goes on in lines that are indented; one message may hold several. */
function statementsOf(lines: readonly string[]): string[] {
  const found: string[] = [];
  let inside = false;
  for (const line of lines) {
    const [, several, one] = /^LOG: {2}(?:statement: (.*)|execute [^:]*: (.*))$/s.exec(line) ?? [];
    if (several !== undefined) found.push(...several.split(';').flatMap((sql) => (sql.trim() ? [sql.trim()] : [])));
    if (one !== undefined) found.push(one);
    if (inside && line.startsWith('\t')) found.push(`${found.pop()} ${line.trim()}`);
    else inside = several !== undefined || one !== undefined;
  }
  return found;
}
