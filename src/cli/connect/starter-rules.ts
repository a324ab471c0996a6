import { accessSync, constants } from "node:fs";
import { basename } from "node:path";
import { isSameAddress } from "@parley/sdk/environment";
import { ConfigMistake } from "../../config/config.ts";
import { isLoopback } from "../../lib/network/network.ts";
import { printable } from "../../lib/printable.ts";
import { STARTER_RULES, type StarterState, starterRulesIn } from "../../policy/starter-rules.ts";
import type { Takes } from "../arguments.ts";
import { configOf } from "../command-config.ts";
import { EXIT, type Io } from "../command.ts";
import { textIn, writeChange } from "../config-file.ts";
import { runningServerUrl } from "../local-server.ts";

export const RULES_FLAG = {
  "--rules ANSWER": {
    help: "yes or no: whether the first rules for coding agents come into force; left out, asked at a terminal",
    choices: ["yes", "no"],
  },
} as const satisfies Takes;

interface Offer {
  /** The answer of the flag; left out, whoever sits at the terminal is asked. */
  rules: string | undefined;
  /** Nothing is to be asked. */
  yes: boolean;
  /** The server that the agents ask. */
  url: string;
}

/**
 * Has the rules for coding agents of the first policy come into force, if somebody says yes to them: here, where the
 * server runs on the data folder of this user, who can write its policy file. Elsewhere says where they belong. Returns
 * the exit code: refused where they were to come into force and could not.
 */
export async function offerRules({ rules: answer, yes, url }: Offer, io: Io): Promise<number> {
  if (answer === "no") return EXIT.done;
  const file = ownPolicyFile(url, io);
  const found = file === null ? null : await readPolicyFile(file, io);
  if (found?.state.kind === "in force") return EXIT.done;
  if (file === null || found?.state.kind !== "comment") {
    tellWhere(file ?? "its policy file, policy.yaml in its data folder", url, io);
    return answer === "yes" ? EXIT.refused : EXIT.done;
  }
  const { after, count } = found.state;
  if (answer === undefined && (yes || !io.prompt)) {
    io.tell("To let coding agents look, test and read issues without asking: parley connect --no-test --rules yes");
    return EXIT.done;
  }
  if (answer === undefined && !(await isWanted(count, file, io))) {
    io.tell(`${printable(file)} is as it was.`);
    return EXIT.done;
  }
  try {
    await writeChange({ file, before: found.text, after, isEmpty: false });
  } catch (error) {
    io.tell(printable(error instanceof Error ? error.message : String(error)));
    tellWhere(file, url, io);
    return EXIT.refused;
  }
  io.tell(
    `${printable(file)} has ${count} more rules. The server reads them within two seconds; put the # signs back to end them.`,
  );
  return EXIT.done;
}

/** Asks once; only a clear yes counts. */
async function isWanted(count: number, file: string, io: Io): Promise<boolean> {
  io.tell(
    "Let coding agents look, test and read issues without asking? Tests, linters and hooks of git run project code.",
  );
  tellRules(`Parley adds these ${count} rules to ${printable(basename(file))}:`, io);
  return /^(y|yes)$/i.test((await io.prompt?.("Add them? [y/N] "))?.trim() ?? "");
}

function tellWhere(place: string, url: string, io: Io): void {
  tellRules(
    `To let coding agents look, test and read issues without asking, an admin of the server at ${printable(url)} adds these lines below "rules:" in ${printable(place)}:`,
    io,
  );
}

function tellRules(head: string, io: Io): void {
  io.tell(head);
  for (const line of STARTER_RULES.trimEnd().split("\n")) io.tell(line);
}

/** Returns the policy file of the server at an address; null where it does not run on this user's data folder. */
function ownPolicyFile(url: string, io: Io): string | null {
  try {
    const { dataDir, relay } = configOf({ dataDir: undefined, config: undefined }, io);
    const running = runningServerUrl(dataDir);
    return running !== undefined && isThisServer(url, running) ? relay.policyFile : null;
  } catch (error) {
    if (error instanceof ConfigMistake) return null;
    throw error;
  }
}

function isThisServer(url: string, running: string): boolean {
  if (isSameAddress(url, running)) return true;
  const [named, own] = [new URL(url), new URL(running)];
  const isHere = [named, own].every(
    ({ hostname }) => hostname === "localhost" || isLoopback(hostname.replace(/^\[|\]$/g, "")),
  );
  return isHere && named.port === own.port && named.pathname === "/";
}

/** Returns a policy file that this user can write, and the place of the rules in it; null for any other file. */
async function readPolicyFile(file: string, io: Io): Promise<{ text: string; state: StarterState } | null> {
  try {
    const text = textIn(file);
    if (text === null) return null;
    const state = await starterRulesIn(text, basename(file));
    if (state.kind === "comment") accessSync(file, constants.W_OK);
    return { text, state };
  } catch (error) {
    io.tell(printable(error instanceof Error ? error.message : String(error)));
    return null;
  }
}
