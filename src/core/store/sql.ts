import { empty, join, raw, Sql } from "sql-template-tag";

/** A statement that remembers where in the program it was written, if its text is the same each time. */
class WrittenSql extends Sql {
  readonly template: TemplateStringsArray | null;

  constructor(strings: TemplateStringsArray, values: readonly unknown[]) {
    super(strings, values);
    this.template = values.some((value) => value instanceof Sql) ? null : strings;
  }
}

/** One text for both databases: values become `?` on SQLite and `$n` on PostgreSQL. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  return new WrittenSql(strings, values);
}

/**
 * Returns a function that makes something once for each text of a statement.
 *
 * Most statements are found by where they were written: putting their text together and hashing it each time would cost
 * about as much as SQLite takes to run them.
 */
export function oncePerText<T>(textOf: (statement: Sql) => string, make: (text: string) => T): (statement: Sql) => T {
  const byText = new Map<string, T>();
  const byTemplate = new WeakMap<TemplateStringsArray, T>();

  function madeFor(text: string): T {
    let made = byText.get(text);
    if (made === undefined) byText.set(text, (made = make(text)));
    return made;
  }
  return (statement) => {
    const template = statement instanceof WrittenSql ? statement.template : null;
    if (!template) return madeFor(textOf(statement));
    let made = byTemplate.get(template);
    if (made === undefined) byTemplate.set(template, (made = madeFor(textOf(statement))));
    return made;
  };
}

export { empty, join, raw, type Sql };
