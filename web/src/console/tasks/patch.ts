import { type FileData, type HunkData, parseDiff } from "react-diff-view";

/** One file of a patch; without `parsed` it could not be read, and can only be fetched. */
export interface PatchFile {
  /** As it is in the repository; of a file that went, where it was. */
  path: string;
  /** Where a renamed or copied file came from. */
  from: string | undefined;
  kind: FileData["type"];
  isBinary: boolean;
  hunks: HunkData[];
  isRead: boolean;
}

/**
 * Returns the files of a patch as git prints it. Names that git quotes are read as they are; a part that nobody can read
 * takes nothing of the rest with it.
 */
export function readPatch(patch: string): PatchFile[] {
  // Lines of files begin with a sign, so that none of them looks like this.
  const parts = patch.split(/^(?=diff --git )/m).filter((part) => part.startsWith("diff --git "));
  return parts.map(readPart);
}

function readPart(part: string): PatchFile {
  const at = part.search(/^@@ /m);
  const head = at < 0 ? part : part.slice(0, at);
  const named = (pattern: RegExp): string | undefined => nameIn(pattern.exec(head)?.[1]);
  const [before, after] = [named(/^--- (.*)$/m), named(/^\+\+\+ (.*)$/m)].map((name) => name?.replace(/^[ab]\//, ""));
  const from = named(/^(?:rename|copy) from (.*)$/m);
  const isGone = /^deleted file mode/m.test(head);
  const kind = isGone
    ? "delete"
    : /^new file mode/m.test(head)
      ? "add"
      : /^rename from/m.test(head)
        ? "rename"
        : "modify";
  const path = named(/^(?:rename|copy) to (.*)$/m) ?? (isGone ? before : after) ?? nameOfBoth(head);
  const file = { path, from, kind, isBinary: /^(Binary files|GIT binary patch)/m.test(head) } as const;
  if (at < 0) return { ...file, hunks: [], isRead: true };
  try {
    const [read] = parseDiff(`diff --git a/x b/x\n--- a/x\n+++ b/x\n${part.slice(at)}`, { nearbySequences: "zip" });
    if (read) return { ...file, hunks: read.hunks, isRead: true };
  } catch {
    // It is fetched as it stands.
  }
  return { ...file, hunks: [], isRead: false };
}

/** Where neither side is named on a line of its own, both have the same name. */
function nameOfBoth(head: string): string {
  const line = /^diff --git (.*)$/m.exec(head)?.[1] ?? "";
  const quoted = /^("(?:[^"\\]|\\.)*") /.exec(line)?.[1];
  const name = quoted === undefined ? line.slice(0, (line.length - 1) / 2) : (nameIn(quoted) ?? "");
  return name.replace(/^a\//, "");
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

/** A name as git prints it: in quotes, with bytes as octal numbers, or as it is, with a tab after it where it has blanks. */
function nameIn(printed: string | undefined): string | undefined {
  if (printed === undefined) return undefined;
  const quoted = /^"(.*)"\t?$/.exec(printed)?.[1];
  if (quoted === undefined) {
    const name = printed.replace(/(?<![\t\r])[\t\r]+$/, "");
    return name === "/dev/null" ? undefined : name;
  }
  const bytes: number[] = [];
  for (const [, octal, letter, plain] of quoted.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/g)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (letter !== undefined) bytes.push(ESCAPES[letter] ?? 63);
    else bytes.push(...new TextEncoder().encode(plain));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
