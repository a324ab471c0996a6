import { pino, type Logger } from "pino";
import { printable } from "../../lib/printable.ts";
import type { AtTerminal } from "./greeting.ts";

const LONGEST_TEXT = 200;
const KEY = /parley_([a-z]+)_[0-9A-Za-z]{38}/g;
const PATH_KEY = /\/k\/[^/?#\s]+/g;

/**
 * The server's log: one JSON object a line on standard output, or, where that is a terminal, on standard error, as a
 * readable line where that is one too. No bodies, keys or addresses are logged; what an error says is cut.
 */
export function openLog(level: string, at: AtTerminal): Logger {
  const options = { level, base: null, serializers: { err: describeError } };
  if (!at.out) return pino(options);
  return pino(options, { write: (line: string) => void process.stderr.write(at.err ? readable(line) : line) });
}

function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: scrub(String(error)) };
  const { code } = error as { code?: unknown };
  const frames = (error.stack ?? "").split("\n").filter((line) => line.startsWith("    at "));
  return { type: error.name, code, message: scrub(error.message), stack: frames.map((line) => line.trim()).join("\n") };
}

function scrub(text: string): string {
  const cut = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}...` : text;
  return cut.replace(KEY, "parley_$1_[key]").replace(PATH_KEY, "/k/[key]");
}

function readable(line: string): string {
  const { level, time, msg, err } = JSON.parse(line) as {
    level: number;
    time: number;
    msg?: string;
    err?: { message?: string; stack?: string };
  };
  const at = new Date(time).toISOString().slice(11, 19);
  const what = [msg, err?.message].filter(Boolean).join(": ");
  const stack =
    err?.stack && level >= pino.levels.values["error"]! ? `\n    ${err.stack.replaceAll("\n", "\n    ")}` : "";
  return `${at} ${pino.levels.labels[level]} ${printable(what)}${stack}\n`;
}
