import { parseArgs } from "node:util";
import type { InboxDecision } from "@parley/sdk/inbox";
import { printableJson } from "../../lib/printable.ts";
import { type Command, CLIENT_FLAGS, EXIT, WrongUsage } from "../command.ts";
import { Declined, openInbox } from "./client.ts";
import { decideAtTerminal } from "./session.ts";
import { holdsSecrets, listLines, outcomeText, wholeLines } from "./view.ts";
import { CLIENT_OPTIONS, serverUrl } from "../server-client.ts";

export const inbox: Command = {
  usage:
    '[ID] [--approve DIGEST | --reject | --option NAME | --text "..." | --value JSON] [--comment "..."] [--secrets] [--json]',
  flags: {
    "--approve DIGEST": "approve what was shown with this digest; without a terminal too",
    "--reject": "reject it, with --option or --comment if you like",
    "--option NAME": "choose a ready-made answer, or way to reject, by its name",
    "--text WORDS": "answer in these words",
    "--value JSON": "answer with this JSON, where a schema asks for it",
    "--secrets": "show secrets in arguments, too; --approve needs it where there are any",
    "--comment WORDS": "what to tell the agent beside yes or no",
    ...CLIENT_FLAGS,
  },
  example: "parley inbox",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        ...CLIENT_OPTIONS,
        approve: { type: "string" },
        reject: { type: "boolean" },
        option: { type: "string" },
        text: { type: "string" },
        value: { type: "string" },
        comment: { type: "string" },
        secrets: { type: "boolean" },
      },
    });
    const [id, ...more] = positionals;
    if (more.length > 0) throw new WrongUsage("there is one ID");
    const { json = false, secrets = false } = values;
    const decision = decisionOf(values);
    if (decision && id === undefined) throw new WrongUsage("ID is missing");
    const mine = openInbox(serverUrl(values.url, io.env), io);
    try {
      if (decision && id !== undefined) {
        // Nobody approves a part of a call that they have not looked at.
        if (decision.approved && !secrets && holdsSecrets(await mine.read(id))) throw new Error(UNSEEN);
        const after = await mine.decide(id, decision);
        io.out(json ? printableJson(JSON.stringify(after)) : outcomeText(after));
        return EXIT.done;
      }
      if (io.prompt) return await decideAtTerminal(mine, id, io, json);
      if (id !== undefined) {
        const ask = await mine.read(id);
        for (const line of json ? [printableJson(JSON.stringify(ask))] : wholeLines(ask, secrets)) io.out(line);
        return EXIT.done;
      }
      const asks = await mine.listAll();
      if (json) io.out(printableJson(JSON.stringify(asks)));
      else if (asks.length === 0) io.tell("Nothing waits for you now.");
      else for (const line of listLines(asks)) io.out(line);
      return EXIT.done;
    } catch (error) {
      throw error instanceof Declined && error.status === 404
        ? new Error("Nothing with this ID is addressed to you.")
        : error;
    }
  },
};

const UNSEEN =
  "Its arguments hold a secret. Look at all of them with --secrets, and approve them with --approve DIGEST --secrets.";

interface DecisionFlags {
  approve?: string | undefined;
  reject?: boolean | undefined;
  option?: string | undefined;
  text?: string | undefined;
  value?: string | undefined;
  comment?: string | undefined;
}

/** Returns what the flags decide; nothing where they decide nothing. @throws {WrongUsage} */
function decisionOf({ approve, reject, option, text, value, comment }: DecisionFlags): InboxDecision | null {
  const isReply = option !== undefined || text !== undefined;
  const ways = [approve !== undefined, reject === true, isReply && !reject, value !== undefined];
  if (ways.filter(Boolean).length > 1)
    throw new WrongUsage("--approve, --reject, --text and --value exclude each other");
  if (reject && text !== undefined) throw new WrongUsage("--comment goes with --reject, not --text");
  if (comment !== undefined && approve === undefined && !reject) {
    throw new WrongUsage("--comment goes with --approve or --reject");
  }
  const reply = comment === undefined ? {} : { comment };
  if (approve !== undefined) return { approved: true, digest: approve, ...reply };
  if (reject) return { approved: false, ...reply, ...(option !== undefined && { option }) };
  if (value !== undefined) return { value: jsonOf(value) };
  return isReply ? { ...(option !== undefined && { option }), ...(text !== undefined && { text }) } : null;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new WrongUsage("--value must be JSON");
  }
}
