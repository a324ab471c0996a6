import { type Change, isNothing, refuseOpenFile, textIn } from "../config-file.ts";
import type { LocalAgent } from "./found.ts";
import { type ParleyPart, type WantedParts, withoutParts } from "./parts.ts";
import { digestOf, type FileBefore, firstMissing, textBefore, type UndoRecord } from "../../config/undo-record.ts";

/** A change to one file of an agent, and what the record is to hold of the file afterwards. */
export interface FileChange extends Change {
  record: FileBefore | undefined;
}

type PartsOfAgent = Pick<LocalAgent, "parts">;

/**
 * Returns the changes by which these parts of an agent are written; without an address those for MCP stay as they are.
 *
 * @throws {Error} one sentence
 */
export function connecting({ parts }: PartsOfAgent, wanted: WantedParts, record: UndoRecord): FileChange[] {
  return byFile(parts).map(([file, own]) => {
    const there = textIn(file);
    const known = record[file];
    const current = there ?? "";
    const without = withoutParts(current, own);
    const original = textBefore(current, known, without);
    // An entry that is there stays in its place.
    const after = own.reduce((text, part) => part.edit(text, wanted), current);
    const isConnected = known !== undefined && without !== current;
    const existed = isConnected ? known.existed : there !== null;
    const madeFolder = isConnected ? known.madeFolder : firstMissing(file);
    const isGivenBack = withoutParts(after, own) === original;
    // A file that held Parley before this command knew of it is removed once nothing else is in it.
    const isForeign = known === undefined && without !== current;
    if (wanted.address) refuseOpenFile({ file, before: current, after }, wanted.address.key);
    const url = own.some(({ kind }) => kind === "hook") ? wanted.hook.http?.url : undefined;
    const addresses = [...new Set([...(known?.addresses ?? []), ...(url === undefined ? [] : [url])])];
    const next = {
      existed: existed && !isForeign,
      ...(madeFolder !== undefined && { madeFolder }),
      ...(!isGivenBack && existed && !isForeign && { text: original }),
      written: digestOf(after),
      ...(addresses.length > 0 && { addresses }),
    };
    return {
      file,
      before: current,
      after,
      isEmpty: false,
      record: isForeign && addresses.length === 0 ? undefined : next,
    };
  });
}

/**
 * Returns the changes by which an agent no longer goes through Parley, or has no hook of Parley's any more. A file
 * without any part of Parley's is as it was before, or as others have left it since, and is forgotten.
 *
 * @throws {Error} one sentence
 */
export function disconnecting(
  { parts }: PartsOfAgent,
  record: UndoRecord,
  goes: (part: ParleyPart) => boolean = () => true,
): FileChange[] {
  return byFile(parts).flatMap(([file, own]) => {
    const current = textIn(file);
    if (current === null) return [];
    const known = record[file];
    const without = withoutParts(current, own.filter(goes));
    const isOut = withoutParts(without, own) === without;
    const after = isOut ? textBefore(current, known, without) : without;
    const isEmpty = isOut && !known?.existed && after !== current && isNothing(after);
    const isAsWritten = known?.written === digestOf(current);
    const left = known && { ...known, written: isAsWritten ? digestOf(after) : known.written };
    return [{ file, before: current, after, isEmpty, record: isOut ? undefined : left }];
  });
}

/** Returns the record with these changes. It is written before them: what is not recorded could not be undone to the byte. */
export function recordWith(changes: readonly FileChange[], record: UndoRecord): UndoRecord {
  const next = new Map(Object.entries(record));
  for (const { file, record: of } of changes) {
    if (of) next.set(file, of);
    else next.delete(file);
  }
  return Object.fromEntries(next);
}

function byFile(parts: readonly ParleyPart[]): [string, ParleyPart[]][] {
  return [...Map.groupBy(parts, ({ file }) => file)];
}
