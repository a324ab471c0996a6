import { printableJson } from "../../lib/printable.ts";
import { parseArgs } from "node:util";
import { AUDIENCES, type Audience, type NewQuestion, type Question } from "@parley/sdk/wire";
import type { Parley } from "@parley/sdk";
import { systemClock } from "../../lib/clock.ts";
import { clockText, parseDurationMs } from "../../lib/duration.ts";
import { askPerson } from "./ask-person.ts";
import { type Command, CLIENT_FLAGS, EXIT, type Io, onlyArgument, WrongUsage } from "../command.ts";
import { withLiveLine } from "../live-line.ts";
import { countText, questionLines } from "./question-lines.ts";
import { CLIENT_OPTIONS, openClient, serverUrl } from "../server-client.ts";

export const ask: Command = {
  usage: "PROMPT [--options A,B] [--audience TAG,TAG] [--min N] [--timeout 1h] [--to HUMAN] [--wait] [--json]",
  flags: {
    "--options A,B": "what to choose from; give it several times if an option holds a comma",
    "--audience TAG,TAG": `who may know: ${AUDIENCES.join(", ")}`,
    "--min N": "how many answers are wanted, 1 to 50; left out, 1",
    "--timeout TIME": "how long to ask for, 60s to 24h, a named person 10s to 30d; left out, 1h",
    "--to HUMAN": "ask this person alone, by name or id, or whoever of a group is first",
    "--wait": "stay until it is answered, then print the answers; exit 3 when time ran out first",
    ...CLIENT_FLAGS,
  },
  choices: { "--audience": AUDIENCES },
  example: 'parley ask "Which label is clearer?" --options "Send,Submit" --wait',
  wireNames: {
    "spec.msg": "PROMPT",
    "spec.response_options": "--options",
    min_responses: "--min",
    timeout_seconds: "--timeout",
    "spec.timeout_seconds": "--timeout",
  },
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        ...CLIENT_OPTIONS,
        options: { type: "string", multiple: true },
        audience: { type: "string" },
        min: { type: "string" },
        timeout: { type: "string" },
        to: { type: "string" },
        wait: { type: "boolean" },
      },
    });
    const prompt = onlyArgument(positionals, "PROMPT");
    const options = values.options && optionsOf(values.options);
    const timeoutSeconds = values.timeout === undefined ? undefined : secondsOf(values.timeout);
    const url = serverUrl(values.url, io.env);
    if (values.to !== undefined) {
      if (values.audience !== undefined || values.min !== undefined)
        throw new WrongUsage("--to asks a person or a group: --audience and --min are for asking everybody");
      const how = { url, io, wait: values.wait ?? false, json: values.json ?? false };
      return askPerson({ prompt, to: values.to, options, timeoutSeconds }, how);
    }
    const question: NewQuestion = {
      prompt,
      ...(options && { options }),
      ...(values.audience !== undefined && { audience: values.audience.split(",") as Audience[] }),
      min_responses: wholeNumber("--min", values.min ?? "1"),
      ...(timeoutSeconds !== undefined && { timeout_seconds: timeoutSeconds }),
    };
    const client = openClient(url, io.env);
    const receipt = await client.ask(question, { signal: io.interrupted });
    const id = receipt.question_id;
    const place = `${url}/q/${id}`;

    if (!values.wait) {
      io.out(values.json ? printableJson(JSON.stringify(receipt)) : id);
      io.tell(`People answer at ${place}; see what they say: parley check ${id}`);
      return EXIT.done;
    }
    io.tell(`People answer at ${place}`);
    const settled = await waitFor(client, id, io);
    if (settled === null) {
      io.tell(`The question stays open; see what people say: parley check ${id}`);
      return EXIT.interrupted;
    }
    if (values.json) io.out(printableJson(JSON.stringify(settled)));
    else for (const line of questionLines(settled)) io.out(line);
    if (settled.status === "CLOSED") return EXIT.done;
    return settled.cancelled ? EXIT.refused : EXIT.unanswered;
  },
};

/** Shows how many of how many and the time left until the question is final; null when interrupted before that. */
async function waitFor(client: Parley, id: string, io: Io): Promise<Question | null> {
  let latest: Question | undefined;
  const line = () => {
    if (!latest) return undefined;
    const left = Date.parse(latest.expires_at) - systemClock.now();
    return `${countText(latest)}, ${clockText(left)} left`;
  };
  return withLiveLine(io, line, (show) => {
    const onProgress = (question: Question) => {
      latest = question;
      show();
    };
    return client.wait(id, { signal: io.interrupted, onProgress });
  });
}

function optionsOf(given: readonly string[]): string[] {
  const options = given.length === 1 ? (given[0] ?? "").split(",") : given;
  return options.map((option) => option.trim());
}

function wholeNumber(flag: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new WrongUsage(`${flag} must be a whole number`);
  return Number(text);
}

function secondsOf(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === null) throw new WrongUsage("--timeout must be a time such as 90s, 15m or 1h");
  return Math.round(ms / 1000);
}
