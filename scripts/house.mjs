/**
 * Prints how the source is divided: for each room of a subject its files, lines and what it imports of others, and for
 * the whole what is to stay at none: imports against the order of subjects, circles, long functions, names of types that
 * stand for several.
 *
 * `npm run house` prints the tables; `-- --list` names each offender, too.
 */
import { cruise } from "dependency-cruiser";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { SUBJECTS } from "../.dependency-cruiser.js";
import { wordsAgainstRule } from "./comment-rule.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LONGEST_FUNCTION = 60;
/** Words that stood for many things; each has one name of the field now. */
const PRIVATE_WORDS =
  "aside bench commission desk furnish heard meant parked passenger pressed said standing told trail verdict wish".split(
    " ",
  );
const isListing = process.argv.includes("--list");

process.chdir(ROOT);
const files = globSync("src/**/*.ts").sort();
const lines = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), "utf8").trimEnd().split("\n").length]));
const imports = await readImports();
const crossing = imports.filter(({ from, to }) => from !== to);
const upward = crossing.filter(({ from, to }) => SUBJECTS.indexOf(to) > SUBJECTS.indexOf(from));
const declared = readDeclarations();
const prose = readProse();

printRooms();
printFigures();

/** Imports between rooms of subjects. */
async function readImports() {
  const { output } = await cruise(["src"], {
    doNotFollow: "node_modules",
    tsPreCompilationDeps: true,
    ruleSet: { forbidden: [{ name: "circle", from: {}, to: { circular: true } }] },
  });
  const found = [];
  for (const { source, dependencies } of output.modules) {
    for (const { resolved, circular } of dependencies) {
      const [from, to] = [roomOf(source), roomOf(resolved)];
      if (from && to) found.push({ from, to, text: `${source} -> ${resolved}`, circular });
    }
  }
  return found;
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
      if (ts.isFunctionLike(node) && "body" in node && node.body) {
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

/** Comments that break the rule, and how often each private word stands in the code, in names and in comments. */
function readProse() {
  const wrong = [];
  const uses = new Map(PRIVATE_WORDS.map((word) => [word, 0]));
  for (const file of globSync(["{src,sdk/src,web/src}/**/*.{ts,tsx}"])) {
    const text = readFileSync(join(ROOT, file), "utf8");
    for (const [comment] of text.matchAll(/\/\*\*?[\s\S]*?\*\/|(?<![:"'`\w])\/\/ .*$/gm)) {
      const words = wordsAgainstRule(comment.replace(/^\/[/*]+/, ""));
      if (words) wrong.push(`${file}: ${words}`);
    }
    if (file.includes("/migrations/")) continue;
    for (const part of text.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/)) {
      const word = part.toLowerCase().replace(/(?<=wish)es$|s$/, "");
      if (uses.has(word)) uses.set(word, uses.get(word) + 1);
    }
  }
  return { wrong, uses };
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
  const circles = imports.filter(({ circular }) => circular);
  printTable(
    ["Of all of `src/`", ""],
    [
      ["files, lines", `${files.length}, ${sum(counts)}`],
      ["median file, largest", `${counts[counts.length >> 1]} lines, ${largest[1]} (\`${largest[0]}\`)`],
      ["imports between rooms, against their order", `${crossing.length}, ${upward.length}`],
      ["imports that are part of a circle, types included", circles.length],
      [`functions over ${LONGEST_FUNCTION} lines of code`, declared.long.length],
      ["exported types whose name another has, too", declared.doubled.length],
      ["comments that do not begin with their subject", prose.wrong.length],
    ],
  );
  printTable(["Word", "uses in `src`, `sdk` and `web`"], [...prose.uses]);
  if (!isListing) return;
  print("Against the order", upward.map(({ text }) => text).sort());
  print("In a circle", circles.map(({ text }) => text).sort());
  print("Long functions", declared.long);
  print("Comments without a subject", prose.wrong);
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
