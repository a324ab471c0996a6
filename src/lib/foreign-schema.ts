/** Where a value, or a schema itself, is not as it must be. */
export interface SchemaProblem {
  /** JSON pointer. */
  path: string;
  message: string;
}

/** Judges values by JSON Schemas that somebody else wrote: interpreted, never compiled to code, and never for long. */
export interface ForeignSchemas {
  /** Returns why a schema cannot be used, or nothing (contract-a2h.md, section 5.6). */
  examine(schema: unknown): SchemaProblem | null;
  /** Returns where a value does not fit; an examination that takes too long is a problem too. */
  validate(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<readonly SchemaProblem[]>;
  close(): Promise<void>;
}
