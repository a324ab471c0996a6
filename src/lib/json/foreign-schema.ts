import { openBoundedThread } from "../bounded-thread.ts";
import { readSchema, type SchemaProblem } from "./schema-rules.ts";

export type { SchemaProblem } from "./schema-rules.ts";

/** Judges values by JSON Schemas that somebody else wrote: interpreted, never compiled to code, and never for long. */
export interface ForeignSchemas {
  /** Returns why a schema cannot be used, or nothing (spec/a2h 5.6). */
  examine(schema: unknown): SchemaProblem | null;
  /** Returns where a value does not fit; an examination that takes too long is a problem too. */
  validate(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<readonly SchemaProblem[]>;
  close(): Promise<void>;
}

const LIMITS = { mostCpuMs: 100, mostHeapMb: 64 };
const TOO_LONG: SchemaProblem = { path: "", message: "took too long to compare with the schema" };

/**
 * Returns a judge that works one value at a time in a thread of its own, for 100 ms of its processor's time at most.
 */
export function openForeignSchemas(): ForeignSchemas {
  const file = new URL("./schema-worker.ts", import.meta.url);
  const thread = openBoundedThread<{ schema: string; value: string }, readonly SchemaProblem[]>(file, LIMITS);
  return {
    examine: (schema) => {
      const read = readSchema(schema);
      return "problem" in read ? read.problem : null;
    },
    async validate(schema, value) {
      const read = readSchema(schema);
      if ("problem" in read) return [read.problem];
      const job = { schema: JSON.stringify(read.bare), value: JSON.stringify(value ?? null) };
      return (await thread.work(job)) ?? [TOO_LONG];
    },
    close: () => thread.close(),
  };
}
