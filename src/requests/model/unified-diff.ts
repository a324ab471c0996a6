/** One line of a diff, whole, and whether it is added, goes, stays, or says where the others belong. */
export interface DiffLine {
  sign: "+" | "-" | " " | "@";
  text: string;
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
/** The lines that git and diff print outside of hunks. */
const HEADER =
  /^(diff |index |--- |\+\+\+ |new file mode |deleted file mode |old mode |new mode |(dis)?similarity index |(rename|copy) (from|to) )/;

/**
 * Returns the lines of a unified diff, or null if the text is no unified diff. Each hunk must hold as many lines as its
 * header states. Only headers may stand around hunks, so that the place of a line shows whether it is deleted or a
 * header.
 */
export function readUnifiedDiff(lines: readonly string[]): DiffLine[] | null {
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
