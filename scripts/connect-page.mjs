/**
 * Writes the table of docs/how-to/connect.md from the registry of agents. With --check it only says whether the page is
 * up to date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { format } from "prettier";
import { homely, partsOf } from "../src/cli/connect/parts.ts";
import { AGENTS } from "../src/connect/registry.ts";

const PAGE = new URL("../docs/how-to/connect.md", import.meta.url);
const START = "<!-- node scripts/connect-page.mjs writes this table -->";
const END = "<!-- end of the table -->";
const HOME = { HOME: "/home/ana" };

const cell = (text) => text.replaceAll("|", "\\|").replaceAll(/[<*]/g, "\\$&");

/** Returns the page with the table as the registry has it. */
async function pageText(page) {
  const rows = await Promise.all(Object.entries(AGENTS).map(rowText));
  const head = [
    "| Agent | Files | Reaches people | Reports the end of a tool use | Stays with the agent |",
    "| --- | --- | --- | --- | --- |",
  ];
  const table = await format([...head, ...rows].join("\n"), { parser: "markdown", printWidth: 120 });
  const [before, rest = ""] = page.split(START);
  const [, after = ""] = rest.split(END);
  return `${before}${START}\n\n${table}\n${END}${after}`;
}

async function rowText([name, { load }]) {
  const agent = await load();
  const files = [...new Set(partsOf(agent, HOME).map(({ file }) => `\`${homely(file, HOME)}\``))];
  const events = agent.events.map((event) => `\`${event}\``);
  const uncovered = agent.uncovered.map(({ prompt, because }) => `${prompt}: ${because}`);
  const columns = [
    `${agent.title} (\`${name}\`)`,
    files.join(", "),
    events.join(", "),
    endsText(agent),
    uncovered.join("; "),
  ];
  return `| ${columns.map(cell).join(" | ")} |`;
}

function endsText({ after }) {
  if (!after) return "no: it has no event after a tool that names the use";
  const by = `yes, by ${after.events.map((event) => `\`${event}\``).join(", ")}`;
  const notes = after.givesNotes ? "; its model reads notes" : "";
  return after.untold === "" ? `${by}${notes}` : `${by}; not ${after.untold}${notes}`;
}

const page = readFileSync(PAGE, "utf8");
const text = await pageText(page);
if (!process.argv.includes("--check")) writeFileSync(PAGE, text);
else if (page !== text) {
  console.error("docs/how-to/connect.md is not what the registry says: node scripts/connect-page.mjs");
  process.exitCode = 1;
}
