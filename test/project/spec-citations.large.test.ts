import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { ROOT_FOLDER, textOf } from "../support/documents.ts";

/** Every file of the repository, and those that are about to be. */
const FILES = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"], {
  cwd: ROOT_FOLDER,
  encoding: "utf8",
  maxBuffer: 64 << 20,
})
  .split("\n")
  .filter((file) => file !== "" && !file.startsWith("test/agents/node_modules"));
const SOURCES = FILES.filter(
  (file) =>
    /^(?:src|web|sdk|sdk-python|adapters|bench|test|scripts|bin|site)\//.test(file) &&
    /\.(?:tsx?|mjs|js|py|css)$/.test(file),
);
const DOCUMENTS = FILES.filter((file) => /^(?:docs\/.*|[^/]+|sdk\/README|sdk-python\/README)\.md$/.test(file));

/** A section's number, an invariant's, or the letter of a family of invariants. */
const ID = String.raw`(?:[A-Z]?\d+(?:\.\d+)*|[A-Z])(?![\w-])`;
/** A page and sections of it, on one line: `spec/relay 14`, `spec/a2h 8 and 11`, `spec/invariants J1 to J4`. */
const CITATION = new RegExp(
  String.raw`(?<![\w/])spec/([a-z0-9-]+)(?!\.md|[\w/-])(?: (${ID}(?:(?:, | and | to )${ID})*))?`,
  "g",
);
/** How somebody cites who does not know the form; of RFCs it is the only one. */
const OTHER_FORMS = [
  /\bcontract-[a-z0-9-]+/,
  /(?<!RFC \d+, )\bsections? \d+(?:\.\d+)*/i,
  /§/,
  /(?<![\w/])(?:a2h|ask-a-human|assignment|channels|invariants|mcp|relay|security)\.md/,
  /(?<!spec\/)\b(?:invariants?|clause) [A-Z]\d/,
];

/** Returns what a page of `docs/spec` can be cited by: the numbers of its headings, and of rules that have one. */
function sectionsOf(page: string): ReadonlySet<string> {
  const text = textOf(`docs/spec/${page}.md`);
  const headings = text.matchAll(/^#+ ([A-Z]|\d+(?:\.\d+)*)\. |^#+ (\d+\.\d+) /gm);
  const rules = text.matchAll(/^\| ([A-Z]\d+) +\||^- ([A-Z]\d+|\d+\.\d+)\. |^-- ([A-Z]\d+) {2}/gm);
  return new Set([...headings, ...rules].flatMap(([, ...ids]) => ids.filter((id) => id !== undefined)));
}

const pages = new Map(
  FILES.flatMap((file) => /^docs\/spec\/([a-z0-9-]+)\.md$/.exec(file)?.[1] ?? []).map((page) => [
    page,
    sectionsOf(page),
  ]),
);

/** Returns what is wrong with the citations in a line of a comment, one sentence each. */
function wrongCitations(words: string): string[] {
  const wrong = [...words.matchAll(CITATION)].flatMap(([whole, page = "", ids]) => {
    const sections = pages.get(page);
    if (!sections) return [`there is no docs/spec/${page}.md`];
    if (ids === undefined) return [`"${whole}" names no section on its line`];
    const absent = ids.split(/, | and | to /).filter((id) => !sections.has(id));
    return absent.map((id) => `docs/spec/${page}.md has no ${id}`);
  });
  const others = OTHER_FORMS.flatMap((form) => form.exec(words)?.[0] ?? []);
  return [...wrong, ...others.map((other) => `"${other}" is no citation; one reads "spec/relay 14"`)];
}

/** A path as comments and documents write it, `*` for anything. */
const PATH = /(?<![\w/.@:$<>{}~*-])((?:[\w.@*-]+\/)*[\w.@*-]*\w\.(?:tsx?|mjs|md|py|sql))(?![\w/-])/g;

/** Each end of the path of each file: `core/store/db.ts` and `db.ts` of `src/core/store/db.ts`. */
const ENDS = new Set(FILES.flatMap((file) => file.split("/").map((_, i, parts) => parts.slice(i).join("/"))));

/** Paths that are no files of this repository, by where they are named, and what they are. */
const ELSEWHERE: readonly { file: string; path: string; why: string }[] = [
  { file: "README.md", path: "refund.ts", why: "a program that the reader writes" },
  { file: "docs/reference/commands.md", path: "src/vat.ts", why: "an example of a path" },
  { file: "src/tasks/model/action.ts", path: "src/a.ts", why: "an example of a path" },
  { file: "test/browser/prompt-pad.large.test.ts", path: "docs/post-message-mode.md", why: "a page of Prompt Pad" },
  { file: "test/proof/prove.ts", path: "proof-report.md", why: "what a long run writes" },
];

/** Returns the paths that a line names and that no file here has. */
function absentPaths(file: string, words: string): string[] {
  return [...words.matchAll(PATH)]
    .map(([, path = ""]) => path)
    .filter((path) => !isThere(path) && !ELSEWHERE.some((one) => one.file === file && one.path === path));
}

/** The files for agents have these names in every repository. */
const OF_AGENTS = /^(?:CLAUDE|GEMINI|AGENTS)(?:\.local)?\.md$/;

function isThere(path: string): boolean {
  const plain = path.replace(/^(?:\.{1,2}\/)+/, "");
  if (!plain.includes("*")) return ENDS.has(plain) || OF_AGENTS.test(plain);
  const any = plain.split("*").map((part) => part.replaceAll(".", String.raw`\.`));
  const glob = new RegExp(`^(?:.*/)?${any.join("[^/]*")}$`);
  return FILES.some((file) => glob.test(file));
}

interface Line {
  line: number;
  words: string;
}

/** Returns the lines of comments in a source. */
function commentsOf(file: string, text: string): Line[] {
  const lines = text.split("\n").map((words, i) => ({ line: i + 1, words }));
  if (file.endsWith(".py"))
    return lines.flatMap(({ line, words }) => comment(line, /(?:^|\s)# (.*)$/.exec(words)?.[1]));
  let isInside = false;
  return lines.flatMap(({ line, words }) => {
    const opens = /^\s*\{?\/\*/.test(words);
    const isBlock = isInside || opens;
    isInside = isBlock && !words.includes("*/");
    return isBlock ? comment(line, words) : comment(line, /(?:^|\s)\/\/ (.*)$/.exec(words)?.[1]);
  });
}

const comment = (line: number, words: string | undefined): Line[] => (words === undefined ? [] : [{ line, words }]);

/** Returns the lines of a document outside its blocks. */
function proseOf(text: string): Line[] {
  let isBlock = false;
  return text.split("\n").flatMap((words, i) => {
    const isFence = /^\s*```/.test(words);
    if (isFence) isBlock = !isBlock;
    return isBlock || isFence ? [] : [{ line: i + 1, words }];
  });
}

/** Returns where a docstring stands that says nothing of what follows: neither first in its file nor before a declaration. */
function orphansOf(text: string): number[] {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => !/^(?:#!|\/\/|\s*$)/.test(line));
  return lines.flatMap((line, i) => {
    if (!/^\s*\/\*\*/.test(line) || i === first) return [];
    const end = lines.findIndex((other, j) => j >= i && other.includes("*/"));
    const next = lines.slice(end + 1).find((other) => !/^\s*\/\/ (?:eslint-|@ts-)/.test(other)) ?? "";
    return /^\s*(?:$|\/\*|\/\/|[})\]]|import\b)/.test(next) ? [i + 1] : [];
  });
}

const inComments = (look: (words: string, file: string) => string[]): string[] =>
  SOURCES.flatMap((file) =>
    commentsOf(file, textOf(file)).flatMap(({ line, words }) =>
      look(words, file).map((problem) => `${file}:${line}: ${problem}`),
    ),
  );

describe("what comments and documents refer to", () => {
  it("is a section of docs/spec that there is, in the one form", () => {
    assert.deepEqual(inComments(wrongCitations), []);
    const cited = inComments((words) => [...words.matchAll(CITATION)].map(([whole]) => whole));
    assert.ok(cited.length > 300, `only ${cited.length} citations were seen`);
  });

  it("is a section that there is between the pages, too", () => {
    const wrong = [...pages].flatMap(([page, sections]) =>
      textOf(`docs/spec/${page}.md`)
        .split("\n")
        .flatMap((words, i) => {
          const own = [...words.matchAll(/\bsections? (\d+(?:\.\d+)*)(?:(?:,| and) (\d+(?:\.\d+)*))*/g)]
            .flatMap(([, ...ids]) => ids)
            .filter((id) => id !== undefined && !sections.has(id))
            .map((id) => `this page has no ${id}`);
          const others = [...words.matchAll(CITATION)].flatMap(([whole]) => wrongCitations(whole));
          return [...own, ...others].map((problem) => `docs/spec/${page}.md:${i + 1}: ${problem}`);
        }),
    );
    assert.deepEqual(wrong, []);
  });

  it("is an invariant that there is, where the doctor names one", () => {
    const checks = SOURCES.filter((file) =>
      /^src\/\w+\/store\/([\w-]+-)?checks\.ts$|^src\/doctor\/store\//.test(file),
    ).flatMap((file) =>
      [...textOf(file).matchAll(/^\s+(?:check: |(?:rows|add)\()?"([A-Z]\d+(?:, [A-Z]\d+)*)",/gm)].flatMap(
        ([, ids = ""]) => ids.split(", ").map((id) => ({ file, id })),
      ),
    );
    assert.ok(checks.length > 40, `only ${checks.length} checks were seen`);
    assert.deepEqual(
      checks.filter(({ id }) => !pages.get("invariants")?.has(id)),
      [],
    );
  });

  it("is a file that there is", () => {
    assert.deepEqual(
      inComments((words, file) => absentPaths(file, words).map((path) => `there is no ${path}`)),
      [],
    );
    const inDocuments = DOCUMENTS.flatMap((file) =>
      proseOf(textOf(file)).flatMap(({ line, words }) =>
        absentPaths(file, words).map((path) => `${file}:${line}: there is no ${path}`),
      ),
    );
    assert.deepEqual(inDocuments, []);
    const named = ELSEWHERE.filter(({ file, path }) => textOf(file).includes(path) && !isThere(path));
    assert.deepEqual(named, [...ELSEWHERE], "what is said to be elsewhere is named, and not here");
  });

  it("is what follows, of a docstring", () => {
    const orphans = SOURCES.filter((file) => /\.(?:tsx?|mjs)$/.test(file)).flatMap((file) =>
      orphansOf(textOf(file)).map((line) => `${file}:${line}`),
    );
    assert.deepEqual(orphans, []);
  });

  it("is found wanting where it is wrong", () => {
    const wrong = [
      "(spec/relay 99)",
      "(spec/relay 2 and 99)",
      "(spec/nowhere 1)",
      "(spec/invariants T99)",
      "as spec/relay",
      "(contract-relay.md, section 3)",
      "(section 7)",
      "(relay.md 3)",
      "see invariant T3",
      "§ 4",
    ];
    for (const words of wrong) assert.equal(wrongCitations(words).length > 0, true, words);
    const right = [
      "(spec/relay 9; spec/a2h 8 and 11)",
      "(spec/invariants J1 to J4)",
      "(docs/spec/mcp.md)",
      "spec/security 4.1",
    ];
    for (const words of right) assert.deepEqual(wrongCitations(words), [], words);
    assert.deepEqual(wrongCitations("(RFC 9562, section 5.7)"), []);
    assert.deepEqual(absentPaths("src/main.ts", "as `store/nothing.ts` says, and `core/store/db.ts`"), [
      "store/nothing.ts",
    ]);
    assert.deepEqual(orphansOf("import a;\n\n/** Says. */\n\nconst a = 1;\n/** Of it. */\nconst b = 2;\n"), [3]);
  });
});
