import type { Row } from "../backup/model/export-lines.ts";
import { readTables, type Table } from "../backup/store/tables.ts";
import { OWNED_TABLES } from "../backup/store/owned-tables.ts";
import { listEntriesNaming } from "../core/store/audit.ts";
import type { Db, Queryable } from "../core/store/db.ts";
import { findSubject, listAddresses } from "./erase-person.ts";
import { selectRowsOf } from "./store/traces.ts";

/** Columns that hold the id of a person; whatever table has one is exported. */
const OF_A_PERSON: ReadonlySet<string> = new Set([
  "person",
  "person_id",
  "participant_id",
  "by_id",
  "reader",
  "principal",
  "made_by",
  "revoked_by",
  "decided_by",
]);
/** Columns by which somebody else could act as the person, or that are digests of such. */
const CREDENTIAL = /hash|^credential$|secret|sealed|^keys$|fingerprint|^network$/;
const WRITTEN_IN = new Set(OWNED_TABLES.flatMap(({ writtenIn = [] }) => writtenIn));
const FOLLOWED = OWNED_TABLES.flatMap(({ followed = [] }) => followed);

type Printed = Readonly<Record<string, unknown>>;

/** Everything the store holds about one person, by table; times are in ISO 8601, and no credential is in it. */
export interface PersonExport {
  person: string;
  name: string;
  addresses: readonly string[];
  tables: Readonly<Record<string, readonly Printed[]>>;
  /** The entries of the record about the person's actions, and about actions on the person. */
  record: readonly Printed[];
}

/**
 * Returns what is stored about a person, read at one moment beside whatever a server does meanwhile.
 *
 * @throws {Refusal} `person_not_found`; `invalid_input` where several people have the name
 */
export function exportPerson(ctx: { db: Pick<Db, "readInWorker"> }, called: string): Promise<PersonExport> {
  return ctx.db.readInWorker(async (on) => {
    const { id, name } = await findSubject(on, called);
    const addresses = await listAddresses(on, id);
    const all = new Map((await readTables(on)).map((table) => [table.name, table]));
    const rows = await rowsOf(on, all, [id]);
    const phones = await rowsAt(on, all, "phones", { columns: ["number"], ids: addresses });
    if (phones.length > 0) rows.set("phones", phones);
    const tables = Object.fromEntries([...rows].map(([table, found]) => [table, found.map(printed)]));
    return { person: id, name, addresses, tables, record: await recordOf(on, id) };
  });
}

async function rowsOf(
  on: Queryable,
  all: ReadonlyMap<string, Table>,
  ids: readonly string[],
): Promise<Map<string, Row[]>> {
  const rows = new Map<string, Row[]>();
  for (const table of all.values()) {
    const columns = table.columns.filter((column) => OF_A_PERSON.has(column));
    const writtenIn = table.columns.filter((column) => WRITTEN_IN.has(`${table.name}.${column}`));
    const found = await selectRowsOf(on, table, { columns, writtenIn, ids });
    if (found.length > 0) rows.set(table.name, found);
  }
  for (const { from, by, to, column } of FOLLOWED) {
    const wanted = [...new Set((rows.get(from) ?? []).map((row) => String(row[by])))];
    const known = new Set((rows.get(to) ?? []).map((row) => String(row[column])));
    const found = await rowsAt(on, all, to, { columns: [column], ids: wanted.filter((one) => !known.has(one)) });
    if (found.length > 0) rows.set(to, [...(rows.get(to) ?? []), ...found]);
  }
  return rows;
}

/** A database takes so many values in one statement. */
const AT_ONCE = 500;

async function rowsAt(
  on: Queryable,
  all: ReadonlyMap<string, Table>,
  name: string,
  { columns, ids }: { columns: readonly string[]; ids: readonly string[] },
): Promise<Row[]> {
  const table = all.get(name);
  if (!table) throw new Error(`there is no table ${name}`);
  const found: Row[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    found.push(...(await selectRowsOf(on, table, { columns, ids: ids.slice(from, from + AT_ONCE) })));
  }
  return found;
}

async function recordOf(on: Queryable, id: string): Promise<Printed[]> {
  const rows = await listEntriesNaming(on, id);
  return rows.map(({ entry, data }) => ({
    ...(JSON.parse(entry) as Printed),
    ...(data !== null && { data: JSON.parse(data) as unknown }),
  }));
}

function printed(row: Row): Printed {
  const shown = Object.entries(row).filter(([column, value]) => value !== null && !CREDENTIAL.test(column));
  return Object.fromEntries(shown.map(([column, value]) => [column, printedValue(column, value)]));
}

function printedValue(column: string, value: string | number | null): unknown {
  if (typeof value === "number") return /(^|_)(at|until)$/.test(column) ? new Date(value).toISOString() : value;
  if (value === null || !/^[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
