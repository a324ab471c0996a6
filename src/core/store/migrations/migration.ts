/** The words in which the two databases differ when tables are made. */
export interface SchemaWords {
  /** 64-bit integer. */
  integer: string;
  /** A primary key that the database counts up by itself. */
  counted: string;
  /** Text compared byte by byte. */
  text: string;
  /** The text that follows a table's closing bracket. */
  strict: string;
  /** Returns a member of the JSON object in a column, as text. */
  member(column: string, name: string): string;
}

/** One step of the schema: numbered, forward only, all or nothing. */
export interface Migration {
  number: number;
  name: string;
  statements(words: SchemaWords): readonly string[];
}
