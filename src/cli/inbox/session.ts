import type { InboxDecision } from "@parley/sdk/inbox";
import { printable, printableExactly, printableJson } from "../../lib/printable.ts";
import { EXIT, type Io } from "../command.ts";
import { Refused } from "./refused.ts";
import { type Inbox, type InboxRequest, type InboxRequestDetail } from "./client.ts";
import { holdsSecrets, listLines, outcomeText, wholeLines } from "./view.ts";
import { goThrough, type Move, type Terminal, terminalOf } from "../pick.ts";

const COMMANDS = "/next, /list, /quit";

/** A terminal, the person before it, and what is addressed to them. */
interface InboxTerminal extends Terminal {
  inbox: Inbox;
  json: boolean;
}

/** Shows what is addressed to somebody, or the one ask, and sends what they decide. Returns the exit code. */
export async function decideAtTerminal(inbox: Inbox, id: string | undefined, io: Io, json: boolean): Promise<number> {
  const session: InboxTerminal = { ...terminalOf(io), inbox, json };
  if (id === undefined) await decideAll(session);
  else await present(session, await inbox.read(id));
  return io.interrupted.aborted ? EXIT.interrupted : EXIT.done;
}

function decideAll(session: InboxTerminal): Promise<void> {
  const { inbox, io } = session;
  return goThrough<InboxRequest>(session, {
    async read(cursor) {
      const { asks, counts, next } = await inbox.list(cursor ?? undefined);
      const waiting = counts?.all ?? asks.length;
      const isCut = cursor === null && waiting > asks.length && asks.length > 0;
      if (isCut) io.tell(`${waiting} wait for you; these are the first ${asks.length}.`);
      return { items: asks, next };
    },
    lines: (asks, before) => (asks.length === 0 ? [] : listLines(asks, before)),
    async present({ id }) {
      const ask = await stillThere(session, id);
      return ask ? present(session, ask) : "next";
    },
    empty: "Nothing waits for you now.",
    unknown: "There is nothing at",
  });
}

/** Returns the ask as it is now, or nothing when others have decided it meanwhile. */
async function stillThere({ inbox }: InboxTerminal, id: string): Promise<InboxRequestDetail | undefined> {
  try {
    const ask = await inbox.read(id);
    return ask.state === "open" ? ask : undefined;
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined;
    throw error;
  }
}

/** Shows one ask and does what the person says, until it is decided or left. */
async function present(session: InboxTerminal, ask: InboxRequestDetail): Promise<Move> {
  const { io } = session;
  io.tell("");
  for (const line of wholeLines(ask, false)) io.tell(line);
  const how = howTo(ask);
  if (how === null)
    io.tell(ask.state === "open" ? "You cannot decide this now." : "There is nothing to decide any more.");
  const commands = holdsSecrets(ask) ? `/secrets, ${COMMANDS}` : COMMANDS;
  const hint = how === null ? commands : `${how}; or ${commands}`;
  io.tell(hint);
  for (;;) {
    const word = await session.ask("> ");
    if (word === null || word === "/quit") return "quit";
    if (word === "/list" || word === "/next") return word === "/list" ? "list" : "next";
    if (word === "/secrets") {
      for (const line of wholeLines(ask, true)) io.tell(line);
      continue;
    }
    const decision = how === null || word === "" ? null : await decisionOf(session, ask, word);
    if (decision === "quit") return "quit";
    if (decision === null) {
      io.tell(hint);
      continue;
    }
    const move = await send(session, ask, decision);
    if (move !== "again") return move;
  }
}

function howTo({ kind, options, schema, may_decide: may }: InboxRequestDetail): string | null {
  if (!may) return null;
  if (kind === "approval") return "approve, or reject";
  if (schema !== null)
    return options.length > 0 ? "#1 chooses the first, or type your answer" : "type your answer, in words or as JSON";
  return options.length > 0 ? `1-${options.length} chooses one, or type your answer` : "type your answer";
}

/** Returns what is to be sent once it was confirmed, nothing to be asked again, or that they are done. */
async function decisionOf(
  session: InboxTerminal,
  ask: InboxRequestDetail,
  word: string,
): Promise<InboxDecision | null | "quit"> {
  if (ask.kind === "approval") {
    if (/^(a|approve|yes)$/i.test(word)) return approval(session, ask);
    return /^(r|reject|no)$/i.test(word) ? rejection(session, ask) : null;
  }
  const decision = replyOf(ask, word);
  const option = ask.options.find(({ name }) => name === decision.option);
  const what = option ? `"${printable(option.title)}"` : `${[...word].length} characters`;
  const sure = await session.ask(`Send ${what}? Enter sends; /back: `);
  if (sure === null) return "quit";
  return sure === "" ? decision : null;
}

/**
 * An approval is confirmed in a word of its own: Enter alone approves nothing. Arguments that hold a secret are shown
 * whole before it.
 */
async function approval(
  { ask: prompt, io }: InboxTerminal,
  ask: InboxRequestDetail,
): Promise<InboxDecision | null | "quit"> {
  if (holdsSecrets(ask)) for (const line of wholeLines(ask, true)) io.tell(line);
  const comment = await prompt("A comment for the agent? Enter for none: ");
  if (comment === null) return "quit";
  const sure = await prompt(
    `Run ${printableExactly(ask.fn ?? ask.title)} with exactly these arguments? yes approves; /back: `,
  );
  if (sure === null) return "quit";
  if (!/^yes$/i.test(sure)) {
    io.tell("Nothing was sent.");
    return null;
  }
  return { approved: true, ...(ask.digest !== null && { digest: ask.digest }), ...(comment !== "" && { comment }) };
}

async function rejection(
  { ask: prompt, io }: InboxTerminal,
  ask: InboxRequestDetail,
): Promise<InboxDecision | null | "quit"> {
  const numbers = ask.options.length > 0 ? `1-${ask.options.length}, or in your words` : "In your words";
  const why = await prompt(`Why? ${numbers}; Enter for no reason; /back: `);
  if (why === null) return "quit";
  if (why === "/back") {
    io.tell("Nothing was sent.");
    return null;
  }
  const option = /^\d+$/.test(why) ? ask.options[Number(why) - 1] : undefined;
  return { approved: false, ...(option ? { option: option.name } : why !== "" && { comment: why }) };
}

function replyOf({ options, schema }: InboxRequestDetail, word: string): InboxDecision {
  // The server reads what fits the schema from words, as it does everywhere else.
  if (schema !== null) return { text: word };
  const option = /^\d+$/.test(word) ? options[Number(word) - 1] : undefined;
  return option ? { option: option.name } : { text: word };
}

/** Sends a decision, again if it has to be, and says what became of it; saying the same twice changes nothing. */
async function send(
  { ask: prompt, io, inbox, json }: InboxTerminal,
  { id }: InboxRequestDetail,
  decision: InboxDecision,
): Promise<Move | "again"> {
  for (;;) {
    try {
      const after = await inbox.decide(id, decision);
      io.out(json ? printableJson(JSON.stringify(after)) : outcomeText(after));
      return "next";
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      io.tell(printable(error.message));
      if (error.status === 400) return "again";
      if (error.status < 500 && error.status !== 429) return "next";
      const word = await prompt("Enter sends it again; /quit gives it up: ");
      if (word === null || word === "/quit") return "quit";
    }
  }
}
