/** The value that follows a name: a text without escapes, or a number. */
const ID_VALUE = /\s*:\s*(?:(["'])([^"'\\]{0,200})\1|(-?\d[\d.eE+-]{0,40}))/y;
const COLON = /\s*:/y;

/**
 * Finds the ids of the answers in a line that is not JSON, such as one with `NaN`, an object of Python or a line that
 * was cut. An id is the member `id` of an outermost object. A line with a member `method` there answers nothing.
 */
export function answeredIds(line: string): (string | number)[] {
  const ids: (string | number)[] = [];
  let depth = 0;
  for (let i = line.indexOf("{"); i >= 0 && i < line.length; i += 1) {
    const char = line.charAt(i);
    if (char === "{") depth += 1;
    else if (char === "}") depth -= 1;
    else if (char === '"' || char === "'") {
      const start = i + 1;
      i = endOfText(line, i);
      const name = depth === 1 ? line.slice(start, i) : "";
      if (name === "method" && matchAt(COLON, line, i + 1)) return [];
      const value = name === "id" ? matchAt(ID_VALUE, line, i + 1) : null;
      if (value) ids.push(value[3] === undefined ? (value[2] ?? "") : Number(value[3]));
    }
  }
  return ids;
}

function matchAt(pattern: RegExp, line: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(line);
}

/** Returns where a text ends that begins at `start`, or the line's end. */
function endOfText(line: string, start: number): number {
  const quote = line.charAt(start);
  for (let i = start + 1; i < line.length; i += 1) {
    const char = line.charAt(i);
    if (char === quote) return i;
    if (char === "\\") i += 1;
  }
  return line.length;
}
