import { AUDIENCES, type Audience, type NewQuestion, type Question } from "@parley/sdk/wire";
import type { Parley } from "@parley/sdk";
import { systemClock } from "../../lib/clock.ts";
import { clockText } from "../../lib/duration.ts";
import { askPerson } from "./ask-person.ts";
import { WrongUsage } from "../arguments.ts";
import { CLIENT_FLAGS, command, EXIT, type Io } from "../command.ts";
import { withLiveLine } from "../live-line.ts";
import { countText, questionLines } from "./question-lines.ts";
import { print } from "../print.ts";
import { openClient, serverUrl } from "../server-client.ts";
import { listed, numberWithin, seconds } from "../values.ts";

export const ask = command({
  takes: {
    PROMPT: { help: "", wire: ["spec.msg"] },
    "--options A,B...": {
      help: "what to choose from; give it several times if an option holds a comma",
      wire: ["spec.response_options"],
    },
    "--audience TAG,TAG": {
      help: `who may know: ${AUDIENCES.join(", ")}`,
      choices: AUDIENCES,
      read: (text: string) => text.split(",") as Audience[],
    },
    "--min N": { help: "how many answers are wanted, 1 to 50; left out, 1", read: numberWithin(1, 50) },
    "--timeout TIME": {
      help: "how long to ask for, 60s to 24h, a named person 10s to 30d; left out, 1h",
      read: seconds("90s, 15m or 1h"),
      wire: ["timeout_seconds", "spec.timeout_seconds"],
    },
    "--to HUMAN": "ask this person alone, by name or id, or whoever of a group is first",
    "--wait": "stay until it is answered, then print the answers; exit 3 when time ran out first",
    ...CLIENT_FLAGS,
  },
  example: 'parley ask "Which label is clearer?" --options "Send,Submit" --wait',
  async run({ prompt, audience, min, timeout: timeoutSeconds, to, wait, json, ...flags }, io) {
    const options = flags.options && listed(flags.options);
    const url = serverUrl(flags.url, io.env);
    if (to !== undefined) {
      if (audience !== undefined || min !== undefined)
        throw new WrongUsage("--to asks a person or a group: --audience and --min are for asking everybody");
      return askPerson({ prompt, to, options, timeoutSeconds }, { url, io, wait, json });
    }
    const question: NewQuestion = {
      prompt,
      options,
      audience,
      min_responses: min ?? 1,
      timeout_seconds: timeoutSeconds,
    };
    const client = openClient(url, io.env);
    const receipt = await client.ask(question, { signal: io.interrupted });
    const id = receipt.question_id;
    const place = `${url}/q/${id}`;

    if (!wait) {
      print(json, receipt, [id], io);
      io.tell(`People answer at ${place}; see what they say: parley check ${id}`);
      return EXIT.done;
    }
    io.tell(`People answer at ${place}`);
    const settled = await waitFor(client, id, io);
    if (settled === null) {
      io.tell(`The question stays open; see what people say: parley check ${id}`);
      return EXIT.interrupted;
    }
    print(json, settled, questionLines(settled), io);
    if (settled.status === "CLOSED") return EXIT.done;
    return settled.cancelled ? EXIT.refused : EXIT.unanswered;
  },
});

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
