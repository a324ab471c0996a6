import { ParleyError } from "@parley/sdk/errors";
import type { HumanQuestion, NewAnswer } from "@parley/sdk/wire";
import { answerAtTerminal, receiptText } from "./answer-session.ts";
import { WrongUsage } from "../arguments.ts";
import { CLIENT_FLAGS, command, type Io } from "../command.ts";
import { print } from "../print.ts";
import { openParticipantSession, type ParticipantSession } from "./participant.ts";
import { serverUrl } from "../server-client.ts";
import { numberWithin } from "../values.ts";

const KEY_WANTED =
  "this server lets only its own people answer: set PARLEY_KEY to a key of scope answer; whoever runs the server makes one with: parley keys create NAME --scope answer --person ID";

export const answer = command({
  takes: {
    "[ID]": "",
    "--option N": "choose this option, counted from 1; sends at once, without a terminal too",
    "--text WORDS": {
      help: "answer in these words; sends at once, without a terminal too",
      wire: ["answer"],
      or: true,
    },
    "--confidence N": { help: "how sure you are, from 1, a guess, to 5, certain", read: numberWithin(1, 5) },
    ...CLIENT_FLAGS,
    "--data-dir DIR":
      "where it is kept who you are (PARLEY_DATA_DIR); not needed with a key of scope answer in PARLEY_KEY",
  },
  example: "parley answer",
  async run({ id, option, text, confidence, json, ...flags }, io) {
    if (option !== undefined && text !== undefined) throw new WrongUsage("--option and --text exclude each other");
    const hasWords = option !== undefined || text !== undefined;
    if (hasWords && id === undefined) throw new WrongUsage("ID is missing");
    if (confidence !== undefined && !hasWords) throw new WrongUsage("--confidence goes with --option or --text");
    if (!hasWords && !io.prompt) throw new WrongUsage("without a terminal, ID and --option or --text say the answer");

    const answerer = await openParticipantSession(serverUrl(flags.url, io.env), flags.dataDir, io);
    try {
      if (!hasWords) return await answerAtTerminal(answerer, id, io, json);
      return await answerOnce(answerer, { id: id ?? "", option, text, confidence }, io, json);
    } catch (error) {
      throw error instanceof ParleyError && error.code === "UNAUTHORIZED" ? new Error(KEY_WANTED) : error;
    }
  },
});

interface Given {
  id: string;
  option: string | undefined;
  text: string | undefined;
  confidence: number | undefined;
}

async function answerOnce(
  { people, keep }: ParticipantSession,
  { id, option, text, confidence }: Given,
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
  return print(json, receipt, [receiptText(receipt)], io);
}

function optionOf({ options = [] }: HumanQuestion, option: string | undefined): number {
  if (option === undefined) throw new WrongUsage("this question has options: --option N chooses one");
  return numberWithin(1, options.length)(option, "--option") - 1;
}

function wordsOf(text: string | undefined): string {
  if (text === undefined) throw new WrongUsage('this question has no options: --text "..." answers it');
  return text;
}
