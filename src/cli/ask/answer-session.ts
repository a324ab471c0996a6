import { ParleyError } from "@parley/sdk/errors";
import { newKey } from "@parley/sdk/idempotency-key";
import {
  type AnswerReceipt,
  type FeedItem,
  type HumanQuestion,
  type NewAnswer,
  REPORT_REASONS,
  type ReportReason,
} from "@parley/sdk/wire";
import { systemClock } from "../../lib/clock.ts";
import { clockText } from "../../lib/duration.ts";
import { printable, printableJson, printableLines } from "../../lib/printable.ts";
import { EXIT, type Io } from "../command.ts";
import type { ParticipantSession } from "./participant.ts";
import { goThrough, type Move, type Terminal, terminalOf } from "../pick.ts";
import { talliedLines } from "./question-lines.ts";
import { table } from "../print.ts";

const FEED_LENGTH = 20;
const LISTED_LENGTH = 60;
const COMMANDS = "/skip, /report, /next, /list, /quit";

/** A terminal, the person before it, and the server. */
interface AnswerTerminal extends ParticipantSession, Terminal {
  json: boolean;
}

/** Shows the feed, or the one question, and sends what the person at the terminal says. Returns the exit code. */
export async function answerAtTerminal(
  answerer: ParticipantSession,
  id: string | undefined,
  io: Io,
  json: boolean,
): Promise<number> {
  const session: AnswerTerminal = { ...answerer, ...terminalOf(io), json };
  if (id === undefined) await answerFeed(session);
  else await present(session, await answerer.people.question(id, { signal: io.interrupted }));
  return io.interrupted.aborted ? EXIT.interrupted : EXIT.done;
}

function answerFeed(session: AnswerTerminal): Promise<void> {
  const { people, io } = session;
  return goThrough<FeedItem>(session, {
    async read(cursor) {
      const { questions, next_cursor } = await people.feed({ limit: FEED_LENGTH, cursor, signal: io.interrupted });
      return { items: questions, next: next_cursor };
    },
    lines: feedLines,
    async present({ question_id: id }) {
      const question = await stillOpen(session, id);
      return question ? present(session, question) : "next";
    },
    empty: "Nobody waits for an answer now.",
    unknown: "There is no question",
  });
}

function feedLines(questions: readonly FeedItem[], before: number): string[] {
  if (questions.length === 0) return [];
  const rows = questions.map((question, i) => {
    const [line = "", ...more] = printableLines(question.prompt);
    const cut = [...line].slice(0, LISTED_LENGTH).join("");
    const text = cut.length < line.length || more.length > 0 ? `${cut} ...` : cut;
    return [String(before + i + 1), text, String(question.responses_needed), leftText(question)];
  });
  return table(["", "QUESTION", "NEEDED", "LEFT"], rows);
}

const leftText = ({ expires_at }: FeedItem): string => clockText(Date.parse(expires_at) - systemClock.now());

/** Returns the question as it is now, or nothing when others have answered it meanwhile. */
async function stillOpen({ people, io }: AnswerTerminal, id: string): Promise<HumanQuestion | undefined> {
  try {
    const question = await people.question(id, { signal: io.interrupted });
    return question.can_answer ? question : undefined;
  } catch (error) {
    if (error instanceof ParleyError && (error.status === 404 || error.status === 410)) return undefined;
    throw error;
  }
}

/** Shows one question and does what the person says, until it is answered or left. */
async function present(session: AnswerTerminal, question: HumanQuestion): Promise<Move> {
  const { ask, io, people, keep } = session;
  const { question_id: id, options } = question;
  const how = options ? `1-${options.length} chooses one` : "type your answer";
  io.tell("");
  for (const line of printableLines(question.prompt)) io.tell(line);
  options?.forEach((option, i) => io.tell(`  ${i + 1}  ${printable(option)}`));
  io.tell(`${question.responses_needed} needed, ${leftText(question)} left; ${question.audience.join(", ")}`);
  io.tell(`${how}; or ${COMMANDS}`);

  for (;;) {
    const word = await ask("> ");
    if (word === null || word === "/quit") return "quit";
    if (word === "/list" || word === "/next") return word === "/list" ? "list" : "next";
    if (word === "/skip") {
      await people.skip(id, { signal: io.interrupted });
      await keep();
      io.tell("Skipped: it stays out of your feed for a day.");
      return "next";
    }
    if (word === "/report") {
      if (await report(session, id)) return "next";
      continue;
    }
    const given = answerOf(question, word);
    if (given === null) {
      if (word !== "") io.tell(`${how}; or ${COMMANDS}`);
      continue;
    }
    const confidence = await askConfidence(session, word, question);
    if (confidence === null) return "quit";
    if (confidence === "back") continue;
    const move = await send(session, question, { question_id: id, ...given, ...confidence });
    if (move !== "again") return move;
  }
}

function answerOf({ options }: HumanQuestion, word: string): Pick<NewAnswer, "answer" | "selected_option"> | null {
  if (word === "" || (word.startsWith("/") && COMMANDS.split(", ").includes(word))) return null;
  if (!options) return { answer: word };
  const number = /^\d+$/.test(word) ? Number(word) : 0;
  return number >= 1 && number <= options.length ? { selected_option: number - 1 } : null;
}

/** The last look before something is sent that can never be taken back. */
async function askConfidence(
  { ask, io }: AnswerTerminal,
  word: string,
  { options }: HumanQuestion,
): Promise<{ confidence?: number } | "back" | null> {
  const option = options?.[Number(word) - 1];
  const what = option === undefined ? `${[...word].length} characters` : `"${printable(option)}"`;
  for (;;) {
    const sure = await ask(`Send ${what}? Enter sends; 1-5 sends and says how sure you are; /back: `);
    if (sure === null) return null;
    if (sure === "/back") return "back";
    if (sure === "") return {};
    if (/^[1-5]$/.test(sure)) return { confidence: Number(sure) };
    io.tell("1 is a guess and 5 is certain; nothing was sent yet.");
  }
}

/** Sends an answer once, however often it takes, and says what became of it. */
async function send(session: AnswerTerminal, question: HumanQuestion, given: NewAnswer): Promise<Move | "again"> {
  const { ask, io, people, keep, json } = session;
  const idempotencyKey = newKey();
  for (;;) {
    try {
      const receipt = await people.answer(given, { idempotencyKey, signal: io.interrupted });
      await keep();
      io.out(json ? printableJson(JSON.stringify(receipt)) : receiptText(receipt));
      await showOthers(session, question);
      return "next";
    } catch (error) {
      if (!(error instanceof ParleyError) || error.status === 401) throw error;
      io.tell(printable(error.message));
      if (error.code === "VALIDATION_ERROR") return "again";
      if (!error.isPassing && error.status !== 429) return "next";
      const word = await ask("Enter sends it again; /quit gives it up: ");
      if (word === null || word === "/quit") return "quit";
    }
  }
}

/** The answer is stored by now, so what cannot be shown is no failure. */
async function showOthers({ people, io }: AnswerTerminal, { question_id: id, options }: HumanQuestion): Promise<void> {
  try {
    const results = await people.results(id, { signal: io.interrupted });
    if (!results.summary && !results.responses) return;
    io.tell(`So far (${results.current_responses} of ${results.required_responses}):`);
    for (const line of talliedLines({ ...results, options })) io.tell(line);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
  }
}

async function report({ ask, io, people, keep }: AnswerTerminal, id: string): Promise<boolean> {
  const reasons = REPORT_REASONS.map((reason, i) => `${i + 1} ${reason.replaceAll("_", " ")}`).join(", ");
  const word = await ask(`Why? ${reasons}; Enter does not report: `);
  const reason: ReportReason | undefined = REPORT_REASONS[Number(word) - 1];
  if (!reason) return false;
  const comment = await ask("What should the operator know? Enter for nothing: ");
  if (comment === null) return false;
  await people.report(id, reason, comment, { signal: io.interrupted });
  await keep();
  io.tell("Reported: it stays out of your feed.");
  return true;
}

/** Returns what an answer has earned, in a line. */
export function receiptText({ points_earned, total_points, new_badges, streak_days = 0 }: AnswerReceipt): string {
  return [
    `Thank you: ${points_earned} points, ${total_points} in all`,
    ...(streak_days > 1 ? [`${streak_days} days in a row`] : []),
    ...new_badges.map((badge) => `new badge ${printable(badge)}`),
  ].join("; ");
}
