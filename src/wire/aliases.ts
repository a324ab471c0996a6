import { z } from "zod";
import { present, type Printable } from "./present.ts";

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Returns the schema of an object of the relay: replies have each name a second time in camelCase (spec/relay 3). The
 * type has the names of the specification alone, because new clients need no others.
 */
export function aliased<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape> {
  const aliases = Object.entries(shape).flatMap(([name, schema]) => {
    const alias = camel(name);
    return alias === name ? [] : [[alias, (schema as z.ZodType).optional().meta({ deprecated: true })] as const];
  });
  return z.object({ ...shape, ...Object.fromEntries(aliases) }) as z.ZodObject<Shape>;
}

/**
 * Returns a body with every snake_case name repeated in camelCase, and without what is absent (spec/relay 3);
 * what is nested stays as it is.
 */
export function withAliases<T extends object>(body: Printable<T>): T {
  const both: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(present<T>(body))) {
    both[name] = value;
    if (name.includes("_")) both[camel(name)] = value;
  }
  return both as T;
}
