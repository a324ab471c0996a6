import type { InboxDecision } from "@parley/sdk/inbox";
import { type Arguments, type Takes, WrongUsage } from "../arguments.ts";
import { CLIENT_FLAGS, command } from "../command.ts";
import { Refused } from "./refused.ts";
import { openInbox } from "./client.ts";
import { decideAtTerminal } from "./session.ts";
import { holdsSecrets, listLines, outcomeText, wholeLines } from "./view.ts";
import { print } from "../print.ts";
import { serverUrl } from "../server-client.ts";

const DECISION_FLAGS = {
  "--approve DIGEST": "approve what was shown with this digest; without a terminal too",
  "--reject": { help: "reject it, with --option or --comment if you like", or: true },
  "--option NAME": { help: "choose a ready-made answer, or way to reject, by its name", or: true },
  "--text WORDS": { help: "answer in these words", or: true },
  "--value JSON": { help: "answer with this JSON, where a schema asks for it", or: true },
  "--secrets": "show secrets in arguments, too; --approve needs it where there are any",
  "--comment WORDS": "what to tell the agent beside yes or no",
} as const satisfies Takes;

export const inbox = command({
  takes: { "[ID]": "", ...DECISION_FLAGS, ...CLIENT_FLAGS },
  example: "parley inbox",
  async run({ id, json, ...flags }, io) {
    const decision = decisionOf(flags);
    if (decision && id === undefined) throw new WrongUsage("ID is missing");
    const mine = openInbox(serverUrl(flags.url, io.env), io);
    try {
      if (decision && id !== undefined) {
        // Nobody approves a part of a call that they have not looked at.
        if (decision.approved && !flags.secrets && holdsSecrets(await mine.read(id))) throw new Error(UNSEEN);
        const after = await mine.decide(id, decision);
        return print(json, after, [outcomeText(after)], io);
      }
      if (io.prompt) return await decideAtTerminal(mine, id, io, json);
      if (id !== undefined) {
        const ask = await mine.read(id);
        return print(json, ask, wholeLines(ask, flags.secrets), io);
      }
      const asks = await mine.listAll();
      if (!json && asks.length === 0) io.tell("Nothing waits for you now.");
      return print(json, asks, asks.length === 0 ? [] : listLines(asks), io);
    } catch (error) {
      throw error instanceof Refused && error.status === 404
        ? new Error("Nothing with this ID is addressed to you.")
        : error;
    }
  },
});

const UNSEEN =
  "Its arguments hold a secret. Look at all of them with --secrets, and approve them with --approve DIGEST --secrets.";

type DecisionFlags = Arguments<typeof DECISION_FLAGS>;

/** Returns what the flags decide; nothing where they decide nothing. @throws {WrongUsage} */
function decisionOf({ approve, reject, option, text, value, comment }: DecisionFlags): InboxDecision | null {
  if (reject && text !== undefined) throw new WrongUsage("--comment goes with --reject, not --text");
  // An option with --reject is a way to reject.
  const choice = reject ? undefined : option;
  const ways = { approve, reject: reject || undefined, option: choice, text, value };
  const given = Object.entries(ways).flatMap(([name, way]) => (way === undefined ? [] : [`--${name}`]));
  if (given.length > 1) throw new WrongUsage(`${given.join(" and ")} exclude each other`);
  if (comment !== undefined && approve === undefined && !reject) {
    throw new WrongUsage("--comment goes with --approve or --reject");
  }
  if (approve !== undefined) return { approved: true, digest: approve, comment };
  if (reject) return { approved: false, comment, option };
  if (value !== undefined) return { value: jsonOf(value) };
  return given.length === 0 ? null : { option, text };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new WrongUsage("--value must be JSON");
  }
}
