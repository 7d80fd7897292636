import type { Connection, Pool, QueryResult } from 'pg';
import pg from 'pg';

/** What decides which rows are seen: one dealer's id, or `system` for the product's own sweeps over all dealers. */
export type Setting = 'forecourt.dealer_id' | 'forecourt.scope';

/** Reads on a connection of the pool with the setting in force for this query alone. */
export const scopedQuery = (pool: Pool, setting: Setting, scope: string, query: { name?: string; text: string; values: unknown[] }) =>
  pool.query(new ScopedQuery(setting, scope, query)) as unknown as Promise<QueryResult>;

/** Run once on every new connection: the statements that set a scope. */
export const scopeStatements = (['forecourt.dealer_id', 'forecourt.scope'] as const).map((setting) => ({
  name: statementOf(setting),
  text: `select set_config('${setting}', $1, true)`,
  values: [''],
}));

function statementOf(setting: Setting): string {
  return `scope ${setting}`;
}

/**
 * Sets the scope and runs the query before a single Sync. PostgreSQL takes all up to a Sync as one transaction, so the
 * setting ends with it, and the read costs what it would without. (begin, set_config, select and commit took twice as long.)
 * Builds on the steps of `pg.Query`, hence the pinned version of pg and the tests beside this file.
 */
class ScopedQuery extends pg.Query {
  /** The answer to the setting comes first and is passed over; were it never sent, the rows would be, too. */
  private settingAnswered = false;
  private readonly setting: Setting;
  private readonly scope: string;

  constructor(setting: Setting, scope: string, query: { name?: string; text: string; values: unknown[] }) {
    super(query);
    this.setting = setting;
    this.scope = scope;
  }

  /** Always by Parse, Bind and Execute, as a simple query could not follow the setting. */
  requiresPreparation(): boolean {
    return true;
  }

  prepare(connection: Wire): void {
    connection.bind({ statement: statementOf(this.setting), values: [this.scope], valueMapper: (value: unknown) => value });
    connection.execute({});
    inherited.prepare.call(this, connection);
  }

  handleDataRow(message: unknown): void {
    if (this.settingAnswered) inherited.handleDataRow.call(this, message);
  }

  handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.settingAnswered) inherited.handleCommandComplete.call(this, message, connection);
    this.settingAnswered = true;
  }
}

/** The part of pg's connection that a query writes to. */
interface Wire extends Connection {
  bind(message: object): void;
  execute(message: object): void;
}

/** The steps of `pg.Query` that its type declarations leave out. */
const inherited = pg.Query.prototype as unknown as {
  prepare(this: unknown, connection: Wire): void;
  handleDataRow(this: unknown, message: unknown): void;
  handleCommandComplete(this: unknown, message: unknown, connection: Wire): void;
};
