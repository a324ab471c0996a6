/**
 * Prints how the source is divided: for each room of a subject its files, lines and what it imports of others, and for
 * the whole what is to stay at none or few: imports against the order of subjects, circles, SQL on another room's
 * tables, long functions, names of types that stand for several.
 *
 * `npm run house` prints the tables; `-- --list` names each offender, too.
 */
import { cruise } from "dependency-cruiser";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { SUBJECTS } from "../.dependency-cruiser.js";
import { findForeignTables } from "../test/support/foreign-tables.ts";
import { wordsAgainstRule } from "./comment-rule.mjs";
import { WORD_EXCEPTIONS } from "./word-exceptions.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LONGEST_FUNCTION = 60;
const MOST_FILES_IN_FOLDER = 30;
/** Words that stood for many things; each has one name of the field now. */
const PRIVATE_WORDS =
  "aside bench commission desk furnish heard meant parked passenger pressed said standing told trail verdict wish".split(
    " ",
  );
const isListing = process.argv.includes("--list");

process.chdir(ROOT);
const files = globSync("src/**/*.ts").sort();
const lines = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), "utf8").trimEnd().split("\n").length]));
const { imports, circles } = await readImports();
const crossing = imports.filter(({ from, to }) => from !== to);
const upward = crossing.filter(({ from, to }) => SUBJECTS.indexOf(to) > SUBJECTS.indexOf(from));
const declared = readDeclarations();
const prose = readProse();
const fullFolders = readFullFolders();
const foreignTables = findForeignTables();

printRooms();
printFigures();

/** Imports between rooms of subjects, and the imports of all sources that are part of a circle. */
async function readImports() {
  const { output } = await cruise(["src", "web/src", "sdk/src"], {
    doNotFollow: "node_modules",
    tsPreCompilationDeps: true,
    ruleSet: { forbidden: [{ name: "circle", from: {}, to: { circular: true } }] },
  });
  const between = [];
  const inCircle = [];
  for (const { source, dependencies } of output.modules) {
    for (const { resolved, circular } of dependencies) {
      const [from, to, text] = [roomOf(source), roomOf(resolved), `${source} -> ${resolved}`];
      if (from && to) between.push({ from, to, text });
      if (circular) inCircle.push(text);
    }
  }
  return { imports: between, circles: inCircle };
}

/** Folders with more files than a reader takes in at once. Each migration is a file, and none ever goes. */
function readFullFolders() {
  const counts = new Map();
  for (const file of globSync("{src,web/src,sdk/src}/**/*.*")) {
    const folder = dirname(file);
    if (!folder.endsWith("/migrations")) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > MOST_FILES_IN_FOLDER)
    .map(([folder, count]) => `${folder}: ${count}`);
}

function roomOf(path) {
  const [, room] = /^src\/([^/]+)\//.exec(path) ?? [];
  return SUBJECTS.includes(room) ? room : undefined;
}

/** Functions and exported types of every file. */
function readDeclarations() {
  const long = [];
  const types = new Map();
  for (const file of files) {
    const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.Latest, true);
    const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line;
    const visit = (node) => {
      // As in lint, the SQL of a migration is no code.
      if (ts.isFunctionLike(node) && "body" in node && node.body && !file.includes("/migrations/")) {
        const count = node.getText().split("\n").filter(isCode).length;
        if (count > LONGEST_FUNCTION) long.push(`${file}:${lineOf(node.getStart()) + 1} ${count} lines`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    for (const node of source.statements) {
      const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
      if (!isType || !node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) continue;
      types.set(node.name.text, [...(types.get(node.name.text) ?? []), file]);
    }
  }
  return { long, doubled: [...types].filter(([, where]) => where.length > 1) };
}

/**
 * Comments that break the rule, and where each private word stands in identifiers and comments. The exceptions are left
 * out; one without a use is listed, so that the list stays true.
 */
function readProse() {
  const wrong = [];
  const uses = new Map(PRIVATE_WORDS.map((word) => [word, []]));
  const exceptions = WORD_EXCEPTIONS.flatMap(({ name, files: globs }) => globs.map((glob) => ({ name, glob })));
  const unused = new Set(exceptions);
  for (const file of globSync(["{src,sdk/src,web/src}/**/*.{ts,tsx}"]).sort()) {
    const text = readFileSync(join(ROOT, file), "utf8");
    const comments = [...text.matchAll(/\/\*\*?[\s\S]*?\*\/|(?<![:"'`\w])\/\/ .*$/gm)].map(([comment]) => comment);
    for (const comment of comments) {
      const words = wordsAgainstRule(comment.replace(/^\/[/*]+/, ""));
      if (words) wrong.push(`${file}: ${words}`);
    }
    if (file.includes("/migrations/")) continue;
    for (const name of [...namesIn(file, text), ...comments]) {
      const found = privateWordsIn(name);
      if (found.length === 0) continue;
      const used = exceptions.find((one) => one.name === name && matchesGlob(file, one.glob));
      if (used) unused.delete(used);
      else for (const word of found) uses.get(word).push(`${file}: ${word} in ${name.split("\n", 1)[0]}`);
    }
  }
  return { wrong, uses, unused: [...unused] };
}

/** Identifiers of a file, in code and in markup. */
function namesIn(file, text) {
  const names = [];
  const visit = (node) => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) names.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  return names;
}

function privateWordsIn(text) {
  return text
    .split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/)
    .map((part) => part.toLowerCase().replace(/(?<=wish)es$|s$/, ""))
    .filter((word) => PRIVATE_WORDS.includes(word));
}

/** Whether a line counts where the length of functions is limited, as in eslint.config.js. */
function isCode(line) {
  return !/^\s*($|\/\/|\/?\*)/.test(line);
}

function printRooms() {
  const rows = SUBJECTS.map((room) => {
    const own = files.filter((file) => roomOf(file) === room);
    const of = (list, side) => list.filter((one) => one[side] === room).length;
    return [
      `\`${room}/\``,
      own.length,
      sum(own.map((file) => lines.get(file))),
      of(crossing, "from"),
      of(crossing, "to"),
      of(upward, "from"),
    ];
  });
  printTable(["Room", "files", "lines", "imports of other rooms", "imported by them", "against the order"], rows);
}

function printFigures() {
  const counts = [...lines.values()].sort((one, other) => one - other);
  const [largest] = [...lines].sort(([, one], [, other]) => other - one);
  printTable(
    ["Of all of `src/`", ""],
    [
      ["files, lines", `${files.length}, ${sum(counts)}`],
      ["median file, largest", `${counts[counts.length >> 1]} lines, ${largest[1]} (\`${largest[0]}\`)`],
      ["imports between rooms, against their order", `${crossing.length}, ${upward.length}`],
      ["imports that are part of a circle, types included", circles.length],
      ["SQL on another room's tables", foreignTables.length],
      [`folders of sources with over ${MOST_FILES_IN_FOLDER} files`, fullFolders.length],
      [`functions over ${LONGEST_FUNCTION} lines of code`, declared.long.length],
      ["exported types whose name another has, too", declared.doubled.length],
      ["comments that do not begin with their subject", prose.wrong.length],
    ],
  );
  printTable(
    ["Word", "uses in names and comments of `src`, `sdk` and `web`"],
    [...prose.uses].map(([word, where]) => [word, where.length]),
  );
  if (!isListing) return;
  print("Against the order", upward.map(({ text }) => text).sort());
  print("In a circle", circles.sort());
  print(
    "SQL on another room's tables",
    foreignTables.map(({ file, line, table }) => `${file}:${line} ${table}`),
  );
  print("Full folders", fullFolders.sort());
  print("Long functions", declared.long);
  print("Comments without a subject", prose.wrong);
  print("Private words", [...prose.uses.values()].flat());
  print(
    "Exceptions without a use",
    prose.unused.map(({ name, glob }) => `${name}: ${glob}`),
  );
  print("Types of one name", declared.doubled.map(([name, where]) => `${name}: ${where.join(", ")}`).sort());
}

function print(title, items) {
  console.log(`\n${title}:\n${items.map((item) => `  ${item}`).join("\n")}`);
}

function printTable(head, rows) {
  const width = head.map((_, i) => Math.max(...[head, ...rows].map((row) => String(row[i]).length), 3));
  const line = (row) =>
    `| ${row.map((cell, i) => (typeof cell === "number" ? String(cell).padStart(width[i]) : String(cell).padEnd(width[i]))).join(" | ")} |`;
  console.log([line(head), `| ${width.map((n) => "-".repeat(n)).join(" | ")} |`, ...rows.map(line), ""].join("\n"));
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
