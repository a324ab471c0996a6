import { printableJson } from "../lib/printable.ts";
import { EXIT, type Io } from "./command.ts";

/** Prints a value as JSON, or these lines about it, and returns the exit code. */
export function print(isJson: boolean, value: unknown, lines: readonly string[], io: Pick<Io, "out">): number {
  for (const line of isJson ? [printableJson(JSON.stringify(value))] : lines) io.out(line);
  return EXIT.done;
}

/** Returns the lines of a table whose columns are as wide as their widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => [...(row[column] ?? "")].length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Returns a moment by UTC, in whole seconds, and null for none. A number beyond every moment is called not valid. */
export const utcText = (ms: number | null): string | null =>
  ms === null ? null : ((new Date(ms).toJSON() as string | null)?.replace(/\.\d+Z$/, "Z") ?? "not valid");
