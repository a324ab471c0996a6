import type { ToolCaps } from "../../asks/model/ask.ts";

type Args = Readonly<Record<string, unknown>>;
/** Under which argument of the tool a cap stands: `{ database: "db" }`. */
export type CapsArgs = Readonly<Record<string, string>>;

/** Those whose meaning is a value of an argument; the others are kept by the runner itself. */
const BY_ARGUMENT = ["database", "tables"] as const;
const KNOWN = new Set<string>([...BY_ARGUMENT, "read_only", "timeout_ms"]);

/** Returns the first cap that nothing can enforce, or null (`E_CAPS_VIOLATION`, spec/relay 12). */
export function unenforceableCap(caps: ToolCaps, capsArgs: CapsArgs): string | null {
  for (const [cap, value] of Object.entries(caps)) {
    if (value === undefined || value === null) continue;
    if (!KNOWN.has(cap)) return cap;
    const isByArgument = cap === "database" || cap === "tables";
    if (isByArgument && !Object.hasOwn(capsArgs, cap)) return cap;
  }
  return null;
}

/**
 * Returns the arguments with what the caps leave no choice about filled in, or says which argument goes beyond them.
 * An argument that was left out could mean everything there is, so it is filled in, and refused where that is not sure
 * to be understood.
 */
export function applyCaps(
  args: Args,
  caps: ToolCaps,
  { capsArgs, inputSchema }: { capsArgs: CapsArgs; inputSchema: Args },
): { args: Args } | { problem: string } {
  const held: Record<string, unknown> = { ...args };
  for (const cap of BY_ARGUMENT) {
    const allowed = allowedOf(caps[cap]);
    const name = capsArgs[cap];
    if (allowed === null || name === undefined) continue;
    const given = Object.hasOwn(held, name) ? held[name] : undefined;
    if (given === undefined || given === null) {
      const filled = filledIn(allowed, typeOf(inputSchema, name));
      if (filled === undefined) return { problem: `${name} must be given: ${allowed.join(", ")}` };
      held[name] = filled;
      continue;
    }
    const values: readonly unknown[] = Array.isArray(given) ? given : [given];
    const isWithin = values.length > 0 && values.every((value) => typeof value === "string" && allowed.includes(value));
    if (!isWithin) return { problem: `${name} may only be ${allowed.join(", ")}` };
  }
  return { args: held };
}

/** An envelope is kept as it came, so that a cap may be null, too. */
function allowedOf(cap: string | readonly string[] | null | undefined): readonly string[] | null {
  if (cap === undefined || cap === null) return null;
  return typeof cap === "string" ? [cap] : cap;
}

function filledIn(allowed: readonly string[], type: unknown): unknown {
  if (type === "array") return allowed;
  const [only, ...more] = allowed;
  return type === "string" && more.length === 0 ? only : undefined;
}

function typeOf(schema: Args, name: string): unknown {
  const properties = schema["properties"] as Record<string, Args | undefined> | undefined;
  return properties && Object.hasOwn(properties, name) ? properties[name]?.["type"] : undefined;
}
