/**
 * Writes docs/reference/commands.md from what the commands say of themselves: `npm run docs:commands`. With --check it
 * only says whether the page is up to date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { format } from "prettier";
import { COMMAND_GROUPS } from "../src/cli/commands.ts";
import { helpRows, usageOf } from "../src/cli/help.ts";

const PAGE = new URL("../docs/reference/commands.md", import.meta.url);

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`.replaceAll(/[<*]/g, "\\$&");
const cell = (text) => text.replaceAll("|", "\\|");
/** A word that ends in a backtick, or holds one, cannot stand in a code mark of one. */
const code = (text) => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);

/** Returns what the page is to hold. */
async function pageText() {
  const groups = await Promise.all(Object.entries(COMMAND_GROUPS).map(groupText));
  const text = [
    "# Every command and flag",
    "What `parley help COMMAND` prints, for each command; `npm run docs:commands` writes this page. [Command line](command-line.md) says what holds for all of them, and how to use those that need more words.",
    ...groups.flat(),
  ];
  return format(text.join("\n\n"), { parser: "markdown", printWidth: 120 });
}

async function groupText([title, commands]) {
  const parts = await Promise.all(Object.entries(commands).map(commandText));
  return [`## ${title}`, ...parts.flat()];
}

async function commandText([name, { does, load }]) {
  const command = await load();
  const rows = helpRows(command).map(
    ([flag, about]) => `| ${cell(code(flag))} | ${cell(about.replaceAll(/[<*]/g, "\\$&"))} |`,
  );
  return [
    `### parley ${name}`,
    code(`parley ${name} ${usageOf(command)}`.trim()),
    sentence(does),
    ...(rows.length > 0 ? [["| Flag | Does |", "| --- | --- |", ...rows].join("\n")] : []),
    `Example: ${code(command.example)}`,
  ];
}

const text = await pageText();
if (!process.argv.includes("--check")) writeFileSync(PAGE, text);
else if (readFileSync(PAGE, "utf8") !== text) {
  console.error("docs/reference/commands.md is not what the commands say: npm run docs:commands");
  process.exitCode = 1;
}
