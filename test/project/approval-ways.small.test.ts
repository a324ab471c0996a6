import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { reasonFor } from "../support/blocks-not-run.ts";
import { type Block, blocksOf, ROOT_FOLDER, textOf } from "../support/documents.ts";

const WAYS = "docs/how-to/approvals.md";
const FRAMEWORKS = "docs/how-to/frameworks.md";
const MOST_LINES = 20;
/** test/project/docs.large.test.ts runs every block in these languages, unless it says why not. */
const RUN_LANGUAGES = ["sh", "python", "ts"];

/** The sections of the page, and how many blocks each shows. */
const SECTIONS: Readonly<Record<string, number>> = {
  TypeScript: 1,
  // At once, as a decorator, and on asyncio.
  Python: 3,
  // These stand on a page of their own.
  "Agent frameworks": 0,
  HTTP: 1,
  "Command line": 1,
  // test/cli/hook-claude.large.test.ts runs the hook that it installs.
  "Claude Code": 1,
  MCP: 1,
  "HumanLayer's client": 1,
};

/** How a program is gated in each framework: the file that is shown, and the test that runs it. */
const EXAMPLES: Readonly<Record<string, { file: string; runBy: string }>> = {
  "Vercel AI SDK": { file: "adapters/examples/ai-approval.ts", runBy: "test/clients/adapters-approvals.test.ts" },
  "OpenAI Agents SDK": {
    file: "adapters/examples/openai-agents-approval.ts",
    runBy: "test/clients/adapters-approvals.test.ts",
  },
  "LangGraph.js": {
    file: "adapters/examples/langgraph-approval.ts",
    runBy: "test/clients/adapters-approvals.test.ts",
  },
  "LangChain.js": { file: "test/agents/langchain-approval-example.ts", runBy: "test/agents/langchain.test.ts" },
  Mastra: { file: "test/agents/mastra-approval-example.ts", runBy: "test/agents/mastra.test.ts" },
};

/** Returns the blocks of each section of a page, by the section's heading of that level. */
function sectionsOf(file: string, level: "##" | "###"): Map<string, Block[]> {
  const lines = textOf(file).split("\n");
  const blocks = blocksOf(file);
  const isHeading = (line: string) => /^#{2,3} /.test(line) && (level === "###" || line.startsWith("## "));
  const isInBlock = (at: number) => blocks.some(({ line, text }) => at >= line && at < line + text.split("\n").length);
  const heads = lines.flatMap((line, i) => (isHeading(line) && !isInBlock(i + 1) ? [{ line, at: i + 1 }] : []));
  return new Map(
    heads
      .map(({ line, at }, i): [string, Block[]] => {
        const end = heads[i + 1]?.at ?? lines.length + 1;
        return [line, blocks.filter((block) => block.line > at && block.line < end)];
      })
      .filter(([line]) => line.startsWith(`${level} `))
      .map(([line, inside]) => [line.slice(level.length + 1), inside]),
  );
}

const linesOf = ({ text }: Block): number => text.trimEnd().split("\n").length;

function assertShort(way: string, block: Block): void {
  const lines = linesOf(block);
  assert.ok(lines <= MOST_LINES, `${way} takes ${lines} lines at ${block.file}:${block.line}`);
}

describe("each way to ask for an approval", () => {
  const sections = sectionsOf(WAYS, "##");
  const gated = sectionsOf(FRAMEWORKS, "###");

  it("is shown on the page", () => {
    const shown = [...sections].map(([way, blocks]) => [way, blocks.length]);
    assert.deepEqual(Object.fromEntries(shown), SECTIONS);
    const frameworks = [...gated.keys()].filter((name) => name.endsWith(": approvals"));
    assert.deepEqual(
      frameworks,
      Object.keys(EXAMPLES).map((name) => `${name}: approvals`),
    );
  });

  for (const [way, blocks] of sections) {
    if (blocks.length === 0) continue;
    it(`takes at most ${MOST_LINES} lines, which test/project/docs.large.test.ts runs: ${way}`, () => {
      for (const block of blocks) {
        assertShort(way, block);
        assert.ok(RUN_LANGUAGES.includes(block.language), `${way} is shown in ${block.language}, which nothing runs`);
        assert.equal(reasonFor(block), undefined, `${way} is not run`);
      }
    });
  }

  for (const [framework, { file, runBy }] of Object.entries(EXAMPLES)) {
    it(`takes at most ${MOST_LINES} lines, which ${runBy} runs: ${framework}`, () => {
      const [block, ...more] = gated.get(`${framework}: approvals`) ?? [];
      assert.ok(block && more.length === 0, `${framework} is shown by one block`);
      assertShort(framework, block);
      assert.equal(block.text, textOf(file));
      assert.ok(existsSync(join(ROOT_FOLDER, runBy)), runBy);
      const name = file.slice(file.lastIndexOf("/") + 1);
      assert.match(textOf(runBy), new RegExp(`^import \\{ .*support.* \\} from "[^"]*/${name}";$`, "m"));
    });
  }
});
