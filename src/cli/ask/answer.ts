import { printableJson } from "../../lib/printable.ts";
import { parseArgs } from "node:util";
import { ParleyError } from "@parley/sdk/errors";
import type { HumanQuestion, NewAnswer } from "@parley/sdk/wire";
import { answerAtTerminal, receiptText } from "./answer-session.ts";
import { type Command, CLIENT_FLAGS, EXIT, type Io, WrongUsage } from "../command.ts";
import { openParticipantSession, type ParticipantSession } from "./participant.ts";
import { CLIENT_OPTIONS, serverUrl } from "../server-client.ts";

const KEY_WANTED =
  "this server lets only its own people answer: set PARLEY_KEY to a key of scope answer; whoever runs the server makes one with: parley keys create NAME --scope answer --person ID";

export const answer: Command = {
  usage: '[ID] [--option N | --text "..."] [--confidence N] [--json]',
  flags: {
    "--option N": "choose this option, counted from 1; sends at once, without a terminal too",
    "--text WORDS": "answer in these words; sends at once, without a terminal too",
    "--confidence N": "how sure you are, from 1, a guess, to 5, certain",
    ...CLIENT_FLAGS,
    "--data-dir DIR":
      "where it is kept who you are (PARLEY_DATA_DIR); not needed with a key of scope answer in PARLEY_KEY",
  },
  wireNames: { answer: "--text" },
  example: "parley answer",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        ...CLIENT_OPTIONS,
        option: { type: "string" },
        text: { type: "string" },
        confidence: { type: "string" },
        "data-dir": { type: "string" },
      },
    });
    const { option, text, confidence, json = false } = values;
    const [id, ...more] = positionals;
    if (more.length > 0) throw new WrongUsage("there is one ID");
    if (option !== undefined && text !== undefined) throw new WrongUsage("--option and --text exclude each other");
    const hasWords = option !== undefined || text !== undefined;
    if (hasWords && id === undefined) throw new WrongUsage("ID is missing");
    if (confidence !== undefined && !hasWords) throw new WrongUsage("--confidence goes with --option or --text");
    const sure = confidence === undefined ? undefined : wholeNumber("--confidence", confidence, 1, 5);
    if (!hasWords && !io.prompt) throw new WrongUsage("without a terminal, ID and --option or --text say the answer");

    const answerer = await openParticipantSession(serverUrl(values.url, io.env), values["data-dir"], io);
    try {
      if (!hasWords) return await answerAtTerminal(answerer, id, io, json);
      const answerGiven = { id: id ?? "", option, text, confidence: sure };
      return await answerOnce(answerer, answerGiven, io, json);
    } catch (error) {
      throw error instanceof ParleyError && error.code === "UNAUTHORIZED" ? new Error(KEY_WANTED) : error;
    }
  },
};

async function answerOnce(
  { people, keep }: ParticipantSession,
  {
    id,
    option,
    text,
    confidence,
  }: { id: string; option: string | undefined; text: string | undefined; confidence: number | undefined },
  io: Io,
  json: boolean,
): Promise<number> {
  const call = { signal: io.interrupted };
  const question = await people.question(id, call);
  const given: NewAnswer = {
    question_id: id,
    ...(question.options ? { selected_option: optionOf(question, option) } : { answer: wordsOf(text) }),
    ...(confidence !== undefined && { confidence }),
  };
  const receipt = await people.answer(given, call);
  await keep();
  io.out(json ? printableJson(JSON.stringify(receipt)) : receiptText(receipt));
  return EXIT.done;
}

function optionOf({ options = [] }: HumanQuestion, option: string | undefined): number {
  if (option === undefined) throw new WrongUsage("this question has options: --option N chooses one");
  return wholeNumber("--option", option, 1, options.length) - 1;
}

function wordsOf(text: string | undefined): string {
  if (text === undefined) throw new WrongUsage('this question has no options: --text "..." answers it');
  return text;
}

function wholeNumber(flag: string, text: string, least: number, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least && number <= most)) throw new WrongUsage(`${flag} must be a number from ${least} to ${most}`);
  return number;
}
