/** One line of a diff, whole, and whether it is added, goes, stays, or says where the others belong. */
export interface DiffLine {
  sign: "+" | "-" | " " | "@";
  text: string;
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
/** The lines that git and diff print outside of hunks. */
const HEADER =
  /^(diff |index |--- |\+\+\+ |new file mode |deleted file mode |old mode |new mode |(dis)?similarity index |(rename|copy) (from|to) )/;
/** The lines of Codex's `apply_patch` outside of hunks. */
const PATCH_HEADER = /^\*\*\* (Begin Patch|End Patch|End of File|(Add|Update|Delete) File: \S|Move to: \S)/;
const PATCHED_FILE = /^\*\*\* (?:Add|Update|Delete) File: (.*\S)/;
const MOVED_TO = /^\*\*\* Move to: (.*\S)/;

/**
 * Returns the lines of a diff, or null for any other text. If each hunk holds as many lines as its header states, and
 * only headers stand around hunks, the place of a line shows whether it is deleted or a header. Agents also write diffs
 * with wrong counts, without counts, and in the format of `apply_patch`; there the line itself shows it.
 */
export function readDiff(lines: readonly string[]): DiffLine[] | null {
  return readByCounts(lines) ?? readByShape(lines);
}

function readByCounts(lines: readonly string[]): DiffLine[] | null {
  const read: DiffLine[] = [];
  let [before, after, hunks] = [0, 0, 0];
  for (const [at, text] of lines.entries()) {
    const sign = text.charAt(0);
    if (before > 0 || after > 0) {
      if (sign !== "+" && sign !== "-" && sign !== " " && sign !== "\\") return null;
      if (sign === "-" || sign === " ") before -= 1;
      if (sign === "+" || sign === " ") after -= 1;
      if (before < 0 || after < 0) return null;
      read.push({ sign: sign === "\\" ? "@" : sign, text });
      continue;
    }
    const hunk = HUNK.exec(text);
    const isLast = at === lines.length - 1 && text === "";
    if (!hunk && !isLast && sign !== "\\" && !HEADER.test(text)) return null;
    if (hunk) [before, after, hunks] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1), hunks + 1];
    read.push({ sign: "@", text });
  }
  return hunks > 0 && before === 0 && after === 0 ? read : null;
}

/**
 * Reads a text that begins as only a diff begins. Signed lines count only after the header of a file or a hunk. A line
 * without a sign stays, as context whose blank is lost does; a text with more of these than of signed lines is no diff.
 */
function readByShape(lines: readonly string[]): DiffLine[] | null {
  if (!beginsAsDiff(lines)) return null;
  const read: DiffLine[] = [];
  const isPatch = lines.some((text) => PATCHED_FILE.test(text));
  let [isInHunk, changed, signed, odd] = [false, 0, 0, 0];
  for (const [at, text] of lines.entries()) {
    const isHeader = isHeaderAt(lines, at, isInHunk, isPatch);
    if (isHeader) isInHunk = [/^@@/, PATCHED_FILE, MOVED_TO].some((begin) => begin.test(text));
    const sign = isHeader || text.startsWith("\\") ? "@" : signOf(text);
    if (sign !== "@") {
      if (!isInHunk && sign !== " ") return null;
      if (sign !== " ") changed += 1;
      if (sign !== " " || text.startsWith(" ")) signed += 1;
      else if (text.trim() !== "") odd += 1;
    }
    read.push({ sign, text });
  }
  return changed > 0 && odd <= signed ? read : null;
}

function beginsAsDiff(lines: readonly string[]): boolean {
  const at = lines.findIndex((text) => text.trim() !== "");
  const first = lines[at] ?? "";
  if (PATCHED_FILE.test(first) || first.trimEnd() === "*** Begin Patch") {
    return lines.some((text) => PATCHED_FILE.test(text));
  }
  if (isPairAt(lines, at) || HUNK.test(first)) return true;
  return /^diff --git \S|^Index: \S/.test(first) && lines.some((text) => text.startsWith("@@"));
}

/** The old and the new name of a file, with a hunk below. */
function isPairAt(lines: readonly string[], at: number): boolean {
  const [old = "", now = "", hunk = ""] = lines.slice(at, at + 3);
  return /^--- \S/.test(old) && /^\+\+\+ \S/.test(now) && hunk.startsWith("@@");
}

function isHeaderAt(lines: readonly string[], at: number, isInHunk: boolean, isPatch: boolean): boolean {
  const text = lines[at] ?? "";
  if (text.startsWith("@@")) return true;
  if (isPatch) return PATCH_HEADER.test(text);
  if (/^(?:---|\+\+\+) /.test(text)) return isPairAt(lines, at) || isPairAt(lines, at - 1);
  return isInHunk ? text.startsWith("diff --git ") : HEADER.test(text) || /^(?:Index: |=+$)/.test(text);
}

function signOf(text: string): "+" | "-" | " " {
  const sign = text.charAt(0);
  return sign === "+" || sign === "-" ? sign : " ";
}

/** The files of a diff as it names them, those among them that it deletes, and the number of its lines. */
export interface DiffSummary {
  files: string[];
  deleted: string[];
  added: number;
  removed: number;
}

/** Returns the files that a diff changes, and how many lines it adds and removes. */
export function summaryOfDiff(lines: readonly DiffLine[]): DiffSummary {
  const named = lines.flatMap(({ sign, text }, at) => {
    if (sign !== "@") return [];
    const patched = PATCHED_FILE.exec(text)?.[1] ?? MOVED_TO.exec(text)?.[1];
    if (patched !== undefined) return [patched];
    if (!text.startsWith("+++ ")) return [];
    const old = lines[at - 1]?.text ?? "";
    return [nameIn(text.slice(4)) ?? nameIn(old.replace(/^--- /, "")) ?? ""];
  });
  const deleted = lines.flatMap(({ sign, text }, at) => {
    if (sign !== "@") return [];
    const patched = /^\*\*\* Delete File: (.*\S)/.exec(text)?.[1];
    if (patched !== undefined) return [patched];
    const old = lines[at - 1]?.text ?? "";
    return /^\+\+\+ \/dev\/null(?:\t|$)/.test(text) ? [nameIn(old.replace(/^--- /, "")) ?? ""] : [];
  });
  const count = (wanted: string) => lines.filter(({ sign }) => sign === wanted).length;
  const distinct = (names: readonly string[]) => [...new Set(names)].filter((name) => name !== "");
  return { files: distinct(named), deleted: distinct(deleted), added: count("+"), removed: count("-") };
}

/** The name without the folder that git puts before it and the time that diff puts after it; null for no file. */
function nameIn(text: string): string | null {
  const name = (text.split("\t")[0] ?? "").trim();
  return name === "/dev/null" ? null : name.replace(/^[ab]\//, "");
}
