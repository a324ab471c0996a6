import pg from "pg";
import values from "pg/lib/utils.js";
import { serialize } from "pg-protocol";
import { systemRandom } from "../../../lib/random.ts";
import { SCHEMA_NUMBER } from "../migrate.ts";
import { rowMaker } from "../row-maker.ts";
import type { Sql } from "../sql.ts";
import { isPlanStale } from "./errors.ts";

/** A statement as it is sent. */
export type SentStatement = Pick<Sql, "text" | "values">;

/** The result of a statement. */
export interface StatementResult {
  rows: object[];
  /** How PostgreSQL names what was done, such as `UPDATE 1`. */
  done: string;
}

/** The statements of a batch that were done, in order; `error` is that of the first that was not. */
export interface BatchResult {
  results: readonly StatementResult[];
  error?: Error;
}

/** A statement on one connection, which knows how its rows are read. */
interface Prepared {
  /** Empty for a statement that is planned each time it runs. */
  name: string;
  /** Its rows were described, if it has any. They stay the same for as long as its plan. */
  isDescribed: boolean;
  /** The columns of its rows, by names and types. */
  columns?: string;
  toRow?: (texts: (string | null)[]) => object;
}

/** The statements of each connection by their texts. The connection keeps the plan of each that has a name. */
const preparedOn = new WeakMap<pg.ClientBase, Map<string, Prepared>>();
/** Two processes never give one name to two statements: a pooler that mixes their sessions causes an error at most. */
const NAMES_BEGIN = `parley_${Buffer.from(systemRandom(4)).toString("hex")}_`;
let names = 0;
/** A pooler keeps plans by their text for longer than a program runs; after an upgrade a row may have more columns. */
const TEXTS_END = ` /* schema ${SCHEMA_NUMBER} */`;

/**
 * Sends statements together on a connection, one after another in one packet, and resolves with what became of them. A
 * statement that fails ends the batch: those after it were not run. Outside a transaction the batch is one, and `limits`
 * of `localLimits` hold for it.
 *
 * Nothing else may be under way on the connection. A database that does not answer within `withinMs` is an error, of
 * which `isUnheard` is true.
 */
export function sendTogether(
  client: pg.ClientBase,
  statements: readonly SentStatement[],
  withinMs: number,
  limits: readonly SentStatement[] = [],
): Promise<BatchResult> {
  return new Promise((resolve) => {
    const resolveOwn = ({ results, ...failed }: BatchResult) =>
      resolve({ results: results.slice(limits.length), ...failed });
    client.query(new StatementBatch(client, [...limits, ...statements], withinMs, resolveOwn));
  });
}

/** A query of the driver's own kind (as `pg-cursor` is one): it writes the messages, and is told of the replies in order. */
class StatementBatch implements pg.Submittable {
  /** Read by the driver, which calls `callback` with an error after so many ms. */
  readonly query_timeout: number;
  /** Called once, by this or by the driver. */
  callback: (error: Error | null) => void;
  readonly #prepared: Map<string, Prepared>;
  readonly #statements: readonly SentStatement[];
  readonly #sent: Prepared[] = [];
  /** The texts that this batch prepares. */
  readonly #fresh = new Set<string>();
  readonly #results: StatementResult[] = [];
  #rows: object[] = [];

  constructor(
    client: pg.ClientBase,
    statements: readonly SentStatement[],
    withinMs: number,
    resolve: (result: BatchResult) => void,
  ) {
    let prepared = preparedOn.get(client);
    if (!prepared) preparedOn.set(client, (prepared = new Map()));
    this.#prepared = prepared;
    this.#statements = statements;
    this.query_timeout = withinMs;
    this.callback = (error) => {
      if (error) this.#forgetFailed(error);
      resolve({ results: this.#results, ...(error && { error }) });
    };
  }

  submit({ stream }: pg.Connection): void {
    const messages: Buffer[] = [];
    try {
      for (const statement of this.#statements) messages.push(...this.#messagesOf(statement));
    } finally {
      // One piece: many small ones cost the system half as much again.
      stream.write(Buffer.concat([...messages, serialize.sync()]));
    }
  }

  #messagesOf({ text, values: given }: SentStatement): Buffer[] {
    let prepared = this.#prepared.get(text);
    const isParsed = prepared !== undefined && prepared.name !== "";
    if (!prepared) {
      prepared = { name: isPlannedAnew(text) ? "" : `${NAMES_BEGIN}${(names += 1)}`, isDescribed: false };
      this.#prepared.set(text, prepared);
      this.#fresh.add(text);
    }
    this.#sent.push(prepared);
    return [
      ...(isParsed ? [] : [serialize.parse({ name: prepared.name, text: text + TEXTS_END })]),
      serialize.bind({ statement: prepared.name, values: given, valueMapper: values.prepareValue }),
      // One that is parsed anew may have other columns than before: another server may have changed the schema.
      ...(isParsed && prepared.isDescribed ? [] : [serialize.describe({ type: "P" })]),
      serialize.execute({}),
    ];
  }

  /**
   * New statements that were not run may not be prepared: when they come again, they get other names. So does every
   * statement of a connection whose plans are older than the schema, or gone.
   */
  #forgetFailed(error: Error): void {
    if (isPlanStale(error)) return this.#prepared.clear();
    for (const { text } of this.#statements.slice(this.#results.length)) {
      if (this.#fresh.has(text)) this.#prepared.delete(text);
    }
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    const prepared = this.#sent[this.#results.length];
    if (!prepared) return;
    const columns = fields.map(({ name, dataTypeID }) => `${name} ${dataTypeID}`).join();
    if (columns === prepared.columns) return;
    prepared.columns = columns;
    const parse = fields.map(({ dataTypeID }) => parserOf(dataTypeID));
    const make = rowMaker(fields.map(({ name }) => name));
    prepared.toRow = (texts) => make(texts.map((text, i) => (text === null ? null : (parse[i]?.(text) ?? null))));
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const row = this.#sent[this.#results.length]?.toRow?.(fields);
    if (row) this.#rows.push(row);
  }

  handleCommandComplete({ text }: { text: string }): void {
    const prepared = this.#sent[this.#results.length];
    if (prepared) prepared.isDescribed = true;
    this.#results.push({ rows: this.#rows, done: text });
    this.#rows = [];
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: "" });
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}

/**
 * Whether a statement is planned each time it runs. The others keep a plan for as long as their connection lasts. One
 * that changes rows found by key and a state in its text (`WHERE ask_id = $1 AND state = 'open'`) must not: while the
 * partial index of that state is all but empty, a walk through it looks cheaper than the primary key, and the plan would
 * stay when the index has grown. A plan that is kept cannot use that index where the state is a value (`state = $2`).
 */
function isPlannedAnew(text: string): boolean {
  const [, conditions = ""] = /^\s*(?:UPDATE|DELETE)\b.*?\bWHERE\b(.*?)(?:\bRETURNING\b.*)?$/s.exec(text) ?? [];
  return /'|\bIS\b|\bSELECT\b/.test(conditions);
}

const AS_NUMBERS = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

function parserOf(oid: number): (text: string) => unknown {
  return AS_NUMBERS.has(oid) ? Number : (pg.types.getTypeParser(oid, "text") as (text: string) => unknown);
}

/** Integers of 64 bits arrive as numbers, as on SQLite. */
export const postgresNumbers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: "text") =>
    AS_NUMBERS.has(oid) ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};
