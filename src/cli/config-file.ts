import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder, replaceFile, writeWhole } from "../lib/durable-files.ts";
import { lineDiff } from "../lib/line-diff.ts";
import { printable } from "../lib/printable.ts";
import type { Io } from "./command.ts";

const KEY = /parley_([a-z]+)_[0-9A-Za-z]{38}/g;
/** As the user's own mask leaves it. */
const FOLDER_MODE = 0o777;

/** Shows how a file changes. Keys are in files because programs need them there; a terminal is read by others too. */
export function showChange(file: string, before: string, after: string, io: Io): void {
  io.tell(`--- ${file}`);
  io.tell(`+++ ${file}`);
  for (const line of lineDiff(before, after))
    io.tell(printable(line.replaceAll("\t", "  ").replace(KEY, "parley_$1_[key]")));
}

/** The file is replaced at once, whole and for good, keeps its permissions, and stays a link where it is one. */
export async function changeFile(file: string, text: string): Promise<void> {
  if (existsSync(file)) return replaceFile(file, text);
  makeFolder(dirname(file), FOLDER_MODE);
  await writeWhole(file, text);
}
