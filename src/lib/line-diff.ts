const CONTEXT_LINES = 3;

/** Returns the one place where two texts differ, with a few lines around it, as a unified diff; nothing if they are equal. */
export function lineDiff(before: string, after: string): string[] {
  const [old, now] = [before, after].map(linesWithEnds) as [string[], string[]];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let tail = 0;
  while (tail < old.length - start && tail < now.length - start && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  if (start === old.length && start === now.length) return [];

  const from = Math.max(0, start - CONTEXT_LINES);
  const [oldEnd, nowEnd] = [old.length - tail, now.length - tail];
  const more = Math.min(CONTEXT_LINES, tail);
  const marked = (mark: string, lines: string[]) => lines.map((line) => `${mark}${line.replace(/\r?\n$/, "")}`);
  return [
    `@@ -${from + 1},${oldEnd + more - from} +${from + 1},${nowEnd + more - from} @@`,
    ...marked(" ", old.slice(from, start)),
    ...marked("-", old.slice(start, oldEnd)),
    ...marked("+", now.slice(start, nowEnd)),
    ...marked(" ", now.slice(nowEnd, nowEnd + more)),
  ];
}

function linesWithEnds(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}
