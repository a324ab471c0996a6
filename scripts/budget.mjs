/**
 * The step "budget" of `npm run check`: refuses a room of the sources that has more lines than `budget.json` allows, and
 * a document with more long lines. A limit above the figure of today is refused as well, so that what went stays away.
 *
 * `node scripts/budget.mjs --lower` writes today's figures where they are below their limits. A limit is raised by hand,
 * and the commit says why.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** So many lines may a room stay below its limit: small steps need no new limit. */
const SLACK_LINES = 25;
/** The longest line of a document, in characters; a row of a table counts without its padding. */
const LONGEST = { "CHANGELOG.md": 160, "README.md": 200, docs: 200 };
const LIMITS = fileURLToPath(new URL("budget.json", import.meta.url));

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const limits = JSON.parse(readFileSync(LIMITS, "utf8"));
const today = { lines: linesOfRooms(), long_lines: longLinesOfDocuments() };

if (process.argv.includes("--lower")) {
  const lower = (kind) =>
    Object.fromEntries(
      Object.entries(today[kind])
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([name, now]) => [name, Math.min(now, limits[kind][name] ?? now)]),
    );
  writeFileSync(LIMITS, `${JSON.stringify({ lines: lower("lines"), long_lines: lower("long_lines") }, null, 2)}\n`);
} else {
  const problems = [...overIn("lines", "lines", SLACK_LINES), ...overIn("long_lines", "long lines", 0)];
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

/** Returns a sentence for each figure above its limit, and for each limit that can be lowered. */
function overIn(kind, unit, slack) {
  const names = new Set([...Object.keys(today[kind]), ...Object.keys(limits[kind])]);
  return [...names].sort().flatMap((name) => {
    const [now, limit] = [today[kind][name] ?? 0, limits[kind][name] ?? 0];
    if (now > limit) return [`${name}: ${now} ${unit}, ${limit} are allowed (scripts/budget.json)`];
    return now < limit - slack
      ? [`${name}: ${now} ${unit}; lower its limit of ${limit}: node scripts/budget.mjs --lower`]
      : [];
  });
}

/** Lines of each folder below `src`, `web/src` and `sdk/src`, and of the files beside these folders. */
function linesOfRooms() {
  const rooms = {};
  for (const file of globSync("{src,web/src,sdk/src}/**/*.{ts,tsx,css}").sort()) {
    const [, root, folder] = /^(src|web\/src|sdk\/src)\/(?:([^/]+)\/)?/.exec(file.replaceAll("\\", "/"));
    const room = folder === undefined ? root : `${root}/${folder}`;
    rooms[room] = (rooms[room] ?? 0) + readFileSync(file, "utf8").trimEnd().split("\n").length;
  }
  return rooms;
}

/** How many lines of the changelog and the readme, and rows of tables in docs, are longer than they may be. */
function longLinesOfDocuments() {
  const counts = {};
  for (const file of ["CHANGELOG.md", "README.md", ...globSync("docs/**/*.md").sort()]) {
    const isPage = file.startsWith("docs");
    const most = isPage ? LONGEST.docs : LONGEST[file];
    const lines = readFileSync(file, "utf8").split("\n");
    const counted = isPage ? lines.filter((line) => line.startsWith("|")) : lines;
    const long = counted.filter((line) => textOf(line).length > most).length;
    if (long > 0) counts[file.replaceAll("\\", "/")] = long;
  }
  return counts;
}

/** A row of a table without the blanks and dashes that only align it. */
function textOf(line) {
  return line.startsWith("|") ? line.replace(/-{3,}/g, "-").replace(/ {2,}/g, " ") : line;
}
