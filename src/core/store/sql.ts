/** The text of a statement with places for its values, made once for each place in the program that writes it. */
class SqlText {
  static #made = 0;
  readonly id = (SqlText.#made += 1);
  /** The texts of statements that are this one with other statements put into it, by their places and ids. */
  readonly #filled = new Map<string, SqlText>();
  readonly #strings: readonly string[];
  #sql: string | undefined;
  #text: string | undefined;

  constructor(strings: readonly string[]) {
    this.#strings = strings;
  }

  /** With `?` for each value, as SQLite reads it. */
  get sql(): string {
    return (this.#sql ??= this.#strings.join("?"));
  }

  /** With `$1`, `$2`, ... for the values, as PostgreSQL reads it. */
  get text(): string {
    return (this.#text ??= this.#strings.reduce((before, string, i) => `${before}$${i}${string}`));
  }

  /** Returns this text with the texts of the statements among `parts` in their places. */
  filledBy(parts: readonly unknown[]): SqlText {
    let places = "";
    for (let i = 0; i < parts.length; i += 1) {
      const part = parts[i];
      if (part instanceof Sql) places += `${i}:${part.written.id} `;
    }
    if (places === "") return this;
    let filled = this.#filled.get(places);
    if (!filled) this.#filled.set(places, (filled = new SqlText(this.#withStringsOf(parts))));
    return filled;
  }

  #withStringsOf(parts: readonly unknown[]): string[] {
    const strings = [this.#strings[0] ?? ""];
    parts.forEach((part, i) => {
      const [first = "", ...others] = part instanceof Sql ? part.written.#strings : ["", ""];
      strings.push(`${strings.pop()}${first}`, ...others);
      strings.push(`${strings.pop()}${this.#strings[i + 1] ?? ""}`);
    });
    return strings;
  }
}

/** A statement, or a part of one, and its values. Values never become part of its text. */
export class Sql {
  readonly written: SqlText;
  readonly values: unknown[];

  constructor(written: SqlText, parts: unknown[]) {
    this.written = written.filledBy(parts);
    this.values =
      this.written === written ? parts : parts.flatMap((part) => (part instanceof Sql ? part.values : [part]));
  }

  get sql(): string {
    return this.written.sql;
  }

  get text(): string {
    return this.written.text;
  }
}

const byTemplate = new WeakMap<TemplateStringsArray, SqlText>();
const byText = new Map<string, SqlText>();

/** One text for both databases: values become `?` on SQLite and `$n` on PostgreSQL; statements become part of the text. */
export function sql(template: TemplateStringsArray, ...parts: unknown[]): Sql {
  let written = byTemplate.get(template);
  if (!written) byTemplate.set(template, (written = new SqlText(template)));
  return new Sql(written, parts);
}

/** Returns the values or statements with `separator` between them. @throws {TypeError} for an empty list */
export function join(parts: readonly unknown[], separator = ","): Sql {
  if (parts.length === 0) throw new TypeError("An empty list has no SQL.");
  return new Sql(
    keptText(`${parts.length}${separator}`, () => ["", ...parts.slice(1).map(() => separator), ""]),
    [...parts],
  );
}

/** Returns a text that is SQL as it is. */
export function raw(text: string): Sql {
  return new Sql(
    keptText(`raw ${text}`, () => [text]),
    [],
  );
}

export const empty = raw("");

function keptText(name: string, make: () => string[]): SqlText {
  let kept = byText.get(name);
  if (!kept) byText.set(name, (kept = new SqlText(make())));
  return kept;
}

/**
 * Returns a function that makes something once for each text of a statement.
 *
 * Statements are found by where they were written: putting their text together and hashing it each time would cost about
 * as much as SQLite takes to run them.
 */
export function oncePerText<T>(textOf: (statement: Sql) => string, make: (text: string) => T): (statement: Sql) => T {
  const made = new Map<string, T>();
  const madeFor = new WeakMap<SqlText, T>();
  return (statement) => {
    let one = madeFor.get(statement.written);
    if (one !== undefined) return one;
    const text = textOf(statement);
    one = made.get(text);
    if (one === undefined) made.set(text, (one = make(text)));
    madeFor.set(statement.written, one);
    return one;
  };
}
