/**
 * Writes docs/reference/agents.md from the registry of agents: `node scripts/agents-page.mjs`. With --check it only says
 * whether the page is up to date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { format } from "prettier";
import { AGENTS } from "../src/connect/registry.ts";

const PAGE = new URL("../docs/reference/agents.md", import.meta.url);
const TESTED = new URL("../test/agents/package.json", import.meta.url);
/** The packages of the agents' programs. */
const PACKAGES = {
  claude: "@anthropic-ai/claude-code",
  codex: "@openai/codex",
  gemini: "@google/gemini-cli",
  copilot: "@github/copilot",
  opencode: "opencode-ai",
  openclaw: "openclaw",
};

/** The last whole run of `npm run test:agents`. A test of what no settings of a repository may start is skipped for two agents, which follow such settings. */
const WHOLE_RUN = { on: "2026-11-28", tests: 143, passed: 141, skipped: 2, minutes: 26 };

const cell = (text) => text.replaceAll("|", "\\|").replaceAll(/[<*]/g, "\\$&");
const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n");

/** Returns what the page is to hold. */
async function pageText() {
  const { devDependencies } = JSON.parse(readFileSync(TESTED, "utf8"));
  const agents = await Promise.all(Object.values(AGENTS).map(({ load }) => load()));
  const beside = agents.flatMap(({ title, beside }) =>
    beside.map(({ event, runs, decides, input, tried }) => [
      `${title} \`${event}\``,
      runs,
      decides,
      input ?? "–",
      tried ? `${tried.version}, ${tried.on}` : "–",
    ]),
  );
  const means = agents.flatMap(({ title, beside }) =>
    beside.flatMap(({ event, means }) =>
      Object.values(means).map((text) => `- ${title}: another's \`${event}\` ${text}.`),
    ),
  );
  const versions = agents.map(({ name, title }) => [title, devDependencies[PACKAGES[name]] ?? "–"]);
  const text = [
    "# Hooks beside Parley's",
    "An agent may run hooks of other people and plugins for the event that Parley uses. This page says who decides then. `node scripts/agents-page.mjs` writes it from `src/connect`; `hooks-beside.test.ts` and `hooks-beside-others.test.ts` in `test/agents` try the rows with the real programs.",
    table(["Event", "Several hooks run", "Decides", "The edited input that runs", "Tried"], beside),
    "## The effect on a person's decision",
    means.join("\n"),
    "`parley connect`, `parley hook install`, `parley connect status` and `parley doctor` read the files of the agent's user and of the present folder, and say this of each file that holds such a hook. Hooks of plugins and of administrators are not read.",
    "## Versions of the tested programs",
    table(["Agent", "Version"], versions),
    `The last whole run of \`npm run test:agents\`, on ${WHOLE_RUN.on}: ${WHOLE_RUN.passed} of ${WHOLE_RUN.tests} tests passed, ${WHOLE_RUN.skipped} were skipped, in ${WHOLE_RUN.minutes} minutes on two busy cores.`,
    "`node scripts/newer-agents.mjs` says whether the registry has a newer release than the tested one.",
  ];
  return format(text.join("\n\n"), { parser: "markdown", printWidth: 120 });
}

const text = await pageText();
if (!process.argv.includes("--check")) writeFileSync(PAGE, text);
else if (readFileSync(PAGE, "utf8") !== text) {
  console.error("docs/reference/agents.md is not what the registry says: node scripts/agents-page.mjs");
  process.exitCode = 1;
}
