import type { LineComment } from "../tasks/model/task.ts";

const LINES_AROUND = 3;

/** Returns the lines of a patch around the place that a remark is about, as the new file has them; nothing where it names none. */
export function contextOf(patch: string, { path, line }: Pick<LineComment, "path" | "line">): string {
  const shown: string[] = [];
  let isHere = false;
  let at = 0;
  for (const text of patch.split("\n")) {
    if (text.startsWith("diff --git ")) isHere = false;
    else if (text.startsWith("+++ ")) isHere = text.slice(4).replace(/^b\//, "").replace(/\t$/, "") === path;
    const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(text);
    if (hunk) {
      at = Number(hunk[1]);
      continue;
    }
    if (!isHere || !/^[ +-]/.test(text) || text.startsWith("+++ ")) continue;
    if (Math.abs(at - line) <= LINES_AROUND) shown.push(text);
    if (!text.startsWith("-")) at += 1;
  }
  return shown.join("\n");
}
