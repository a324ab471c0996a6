import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { readArguments, WrongUsage } from "../../src/cli/arguments.ts";
import { offeredWords } from "../../src/cli/ask/offered-words.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { commandHelp, misreadSentence, usageOf } from "../../src/cli/help.ts";
import { timeWithin } from "../../src/cli/values.ts";

const CLI = fileURLToPath(new URL("../../src/cli/", import.meta.url));

const TAKES = {
  NAME: "",
  "[FILE]": { help: "a file", choices: ["a", "b"] },
  "--dry-run": "try it",
  "--repo NAME...": "a repository",
  "--listen ADDRESS": { help: "where", default: "here", read: (text: string) => text.toUpperCase() },
  "--scope SCOPE": { help: "what it may do", choices: ["agent", "answer"], required: true },
} as const;

describe("what a command takes", () => {
  it("is parsed by one file, and declared by every other", () => {
    const files = readdirSync(CLI, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    assert.ok(files.length > 80);
    const parsing = files.filter((file) => readFileSync(join(CLI, file), "utf8").includes("parseArgs("));
    assert.deepEqual(parsing, ["arguments.ts"]);
  });

  it("is in the usage, the help and the completion of every command", async () => {
    for (const [name, { load }] of COMMANDS) {
      const command = await load();
      const forms = Object.keys(command.takes);
      const usage = usageOf(command);
      const rows = commandHelp(name, command).map((line) => line.trimStart());
      const offered = (await offeredWords([...name.split(" "), "--"], COMMANDS)).map(({ word }) => word);
      for (const form of forms) assert.ok(usage.includes(form.replace(/^(--.*)\.\.\.$/, "$1")), `${name} ${form}`);
      for (const flag of forms.filter((form) => /^--\w/.test(form))) {
        const shown = flag.replace(/\.\.\.$/, "");
        assert.ok(
          rows.some((row) => row.startsWith(`${shown} `)),
          `${name} ${flag}`,
        );
        assert.ok(offered.includes(shown.split(" ")[0] ?? ""), `${name} ${flag}`);
      }
    }
  });

  it("becomes values: words, switches, lists, what is read of a text, and what is left out", () => {
    const least = readArguments(TAKES, ["shop", "--scope", "agent"]);
    assert.deepEqual(least, {
      name: "shop",
      file: undefined,
      dryRun: false,
      repo: undefined,
      listen: "HERE",
      scope: "agent",
    });
    const all = ["--dry-run", "--repo=x", "--repo", "y", "shop", "--listen", "l", "--scope", "answer", "b"];
    assert.deepEqual(readArguments(TAKES, all), {
      name: "shop",
      file: "b",
      dryRun: true,
      repo: ["x", "y"],
      listen: "L",
      scope: "answer",
    });
    assert.deepEqual(readArguments({ "[AGENT...]": "" }, ["a", "b"]), { agent: ["a", "b"] });
  });

  it("is refused with a sentence where a word or a flag is missing, too many or none of a few", () => {
    const REFUSED: readonly [argv: readonly string[], sentence: string][] = [
      [["--scope", "agent"], "NAME is missing"],
      [["shop", "a", "more", "--scope", "agent"], "there is one NAME and one FILE; quote what holds spaces"],
      [["shop", "c", "--scope", "agent"], "FILE must be one of a, b"],
      [["", "--scope", "agent"], "NAME is empty"],
      [["shop", "", "--scope", "agent"], "FILE is empty"],
      [["shop"], "--scope must be one of agent, answer"],
      [["shop", "--scope", "all"], "--scope must be one of agent, answer"],
    ];
    for (const [argv, message] of REFUSED)
      assert.throws(() => readArguments(TAKES, argv), new WrongUsage(message), argv.join(" "));
    assert.throws(() => readArguments({ ID: "" }, []), new WrongUsage("ID is missing"));
    assert.throws(() => readArguments({ "[AGENT...]": "" }, ["a", ""]), new WrongUsage("AGENT is empty"));
    const two = new WrongUsage("there is one ID; quote it if it holds spaces");
    assert.throws(() => readArguments({ ID: "" }, ["a", "b"]), two);
    assert.throws(() => readArguments({ "[ID]": "" }, ["a", "b"]), two);
  });

  it("is a time within bounds, where it has any", () => {
    const takes = { "--hold TIME": { help: "how long", read: timeWithin(60_000, 604_800_000) } } as const;
    assert.deepEqual(readArguments(takes, ["--hold", "7d"]), { hold: 604_800_000 });
    for (const text of ["59s", "8d", "soon", ""])
      assert.throws(
        () => readArguments(takes, ["--hold", text]),
        new WrongUsage("--hold must be a time from 1m to 7d"),
      );
  });

  it("that is mistyped is answered with the flag whose letters are near, and with none that is not", () => {
    const told = (flag: string) =>
      misreadSentence(`Unknown option '${flag}'.`, { takes: { "--yes": "", "--data-dir DIR": "" } });
    assert.equal(told("--data-dri"), "there is no flag --data-dri; --data-dir is meant, perhaps");
    assert.equal(told("--test"), "there is no flag --test");
  });

  it("has every word after -- in its place, and none before it that belongs to nothing", () => {
    const takes = { "--kind K": "which", "-- COMMAND [ARGUMENT...]": "" } as const;
    const given = readArguments(takes, ["--kind", "x", "--", "make", "--kind", "--", "y"]);
    assert.deepEqual(given, { kind: "x", command: ["make", "--kind", "--", "y"] });
    for (const argv of [["make"], ["--"]])
      assert.throws(() => readArguments(takes, argv), new WrongUsage("the command is missing, after --"));
    assert.throws(() => readArguments(takes, ["x", "--", "make"]), new WrongUsage('"x" is not expected here'));
  });

  it("is one of flags that exclude each other, where one of them must be there", () => {
    const takes = { "--yes": { help: "y", required: true }, "--no": { help: "n", or: true } } as const;
    assert.deepEqual(readArguments(takes, ["--no"]), { yes: false, no: true });
    for (const argv of [[], ["--yes", "--no"]])
      assert.throws(() => readArguments(takes, argv), new WrongUsage("give one of --yes, --no"));
    assert.equal(usageOf({ takes }), "(--yes | --no)");
  });
});
