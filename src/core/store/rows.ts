import { first, one, type Queryable } from "./db.ts";
import type { Sql } from "./sql.ts";

/** The rows that hold one noun, read as that noun. */
export interface Rows<Noun, Row> {
  readonly read: (row: Row) => Noun;
  /** Runs a statement and reads its first row, if there is one. */
  readonly first: (on: Queryable, statement: Sql) => Promise<Noun | undefined>;
  /** Runs a statement and reads its only row. @throws {Error} when no row is found: our bug */
  readonly one: (on: Queryable, statement: Sql) => Promise<Noun>;
  readonly all: (on: Queryable, statement: Sql) => Promise<Noun[]>;
}

/** The type of a row, from the noun's members and the columns that hold them. */
export type RowOf<Of> = Of extends Rows<unknown, infer Row> ? Row : never;

/** A column whose value is not the member's own. Its null stays null. */
interface Column<Kind extends "flag" | "json", Name extends string> {
  readonly kind: Kind;
  readonly column: Name;
  readonly parse: (stored: never) => unknown;
}

/** A column of 1 and 0 that holds a boolean. */
export const flag = <const Name extends string>(column: Name): Column<"flag", Name> => ({
  kind: "flag",
  column,
  parse: (stored: number) => stored === 1,
});

/** A column that holds JSON. */
export const json = <const Name extends string>(
  column: Name,
  parse: (text: string) => unknown = JSON.parse,
): Column<"json", Name> => ({ kind: "json", column, parse });

interface Optional<Of> {
  readonly kind: "optional";
  readonly of: Of;
}

/** A column whose null, or absence from the statement, is a member that the noun does not have. */
export const optional = <const Of extends Single>(of: Of): Optional<Of> => ({ kind: "optional", of });

type Single = string | Column<"flag" | "json", string>;
type Source = Single | Optional<Single> | ((row: never) => unknown);

/** The source of a member: its type tells what a column must hold, so that a JSON column is not taken for its text. */
type SourceOf<Value> = [Value] extends [boolean | null]
  ? Column<"flag", string>
  : [Value] extends [string | number | null]
    ? string
    : Column<"json", string>;

/** The sources of all members: each a column, or a function of the row for a member that several columns make. */
type SourcesOf<Noun> = {
  readonly [Member in keyof Noun]-?:
    | ((row: never) => Noun[Member])
    | (Pick<Noun, Member> extends Required<Pick<Noun, Member>>
        ? SourceOf<Noun[Member]>
        : Optional<SourceOf<Exclude<Noun[Member], undefined>>>);
};

type NameOf<From> =
  From extends Optional<infer Of>
    ? NameOf<Of>
    : From extends Column<"flag" | "json", infer Name>
      ? Name
      : From & string;

/** The value in a column for a value of a noun. */
type Stored<Value> = unknown extends Value
  ? string | null
  : Value extends boolean
    ? number
    : Value extends string | number | null
      ? Value
      : Value extends undefined
        ? null
        : string;

type Columns<Noun, Sources> = {
  [Member in keyof Noun & keyof Sources as NameOf<Sources[Member]>]: Stored<Noun[Member]>;
};

/** The columns that the functions among the sources read. */
type Arguments<Sources> = {
  [Member in keyof Sources]: Sources[Member] extends (row: infer Row) => unknown ? (row: Row) => void : never;
}[keyof Sources] extends (row: infer Row) => void
  ? Row
  : never;

/**
 * Returns the rows of a noun, whose members come in the order of `sources`. Columns that no source names are left out.
 *
 * The second call is there because the compiler infers all type parameters of a call or none of them.
 */
export const rowsOf =
  <Noun extends object>() =>
  <const Sources extends SourcesOf<Noun>>(
    sources: Sources & Record<Exclude<keyof Sources, keyof Noun>, never>,
  ): Rows<Noun, Columns<Noun, Sources> & Arguments<Sources>> => {
    const read = compile(sources) as (row: Columns<Noun, Sources> & Arguments<Sources>) => Noun;
    return {
      read,
      first: async (on, statement) => {
        const row = await first<Parameters<typeof read>[0]>(on, statement);
        return row && read(row);
      },
      one: async (on, statement) => read(await one(on, statement)),
      all: async (on, statement) => (await on.all<Parameters<typeof read>[0]>(statement)).map(read),
    };
  };

/** An object literal that names its members is made twenty times faster than by a loop over them. */
function compile(sources: Readonly<Record<string, Source>>): (row: never) => unknown {
  const functions: unknown[] = [];
  const call = (made: unknown, argument: string) => `functions[${functions.push(made) - 1}](${argument})`;
  const valueOf = (from: Single) => {
    const stored = storedIn(from);
    return typeof from === "string" ? stored : `${stored} === null ? null : ${call(from.parse, stored)}`;
  };
  const members = Object.entries(sources).map(([member, from]) => {
    const name = JSON.stringify(member);
    if (typeof from === "function") return `${name}: ${call(from, "row")}`;
    if (typeof from === "string" || from.kind !== "optional") return `${name}: ${valueOf(from)}`;
    return `...(${storedIn(from.of)} != null && { ${name}: ${valueOf(from.of)} })`;
  });
  // The names are those of the program's own columns, in quotes: nothing from outside is run.
  // eslint-disable-next-line no-new-func
  const make = new Function("functions", `return (row) => ({ ${members.join(", ")} });`);
  return make(functions) as (row: never) => unknown;
}

const storedIn = (from: Single): string => `row[${JSON.stringify(typeof from === "string" ? from : from.column)}]`;
