import { existsSync, mkdirSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { lineDiff } from "../lib/line-diff.ts";
import { printable } from "../lib/printable.ts";
import type { Io } from "./command.ts";

const KEY = /parley_([a-z]+)_[0-9A-Za-z]{38}/g;

/** Shows how a file changes. Keys are in files because programs need them there; a terminal is read by others too. */
export function showChange(file: string, before: string, after: string, io: Io): void {
  io.tell(`--- ${file}`);
  io.tell(`+++ ${file}`);
  for (const line of lineDiff(before, after))
    io.tell(printable(line.replaceAll("\t", "  ").replace(KEY, "parley_$1_[key]")));
}

/** The file is replaced at once and whole, keeps its permissions, and stays a link where it is one. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const place = existsSync(file) ? realpathSync(file) : file;
  const mode = existsSync(place) ? statSync(place).mode & 0o777 : 0o600;
  const fresh = `${place}.${process.pid}.new`;
  writeFileSync(fresh, text, { mode, flag: "wx" });
  renameSync(fresh, place);
}
