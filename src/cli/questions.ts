import { Parley } from "@parley/sdk";
import { agentPlace, isSameAddress } from "@parley/sdk/environment";
import type { Question } from "@parley/sdk/wire";
import { localTime } from "../lib/local-time.ts";
import { printable, printableLines } from "../lib/printable.ts";
import { type Io, WrongUsage } from "./command.ts";
import { localServerUrl } from "./local-server.ts";

export const CLIENT_OPTIONS = { url: { type: "string" }, json: { type: "boolean" } } as const;

/** Where requests to named people are made. */
export const A2H = "/a2h/v1alpha1";

const BAR_WIDTH = 24;

/** Returns the address of the server a command talks to. */
export function serverUrl(flag: string | undefined, env: Io["env"]): string {
  return (flag ?? agentPlace(env).url ?? localServerUrl(env)).replace(/\/+$/, "");
}

/**
 * Returns the key in `PARLEY_KEY`, which is for one server alone: that of the environment, else this computer's own.
 *
 * @throws {WrongUsage} for a server that only a flag names
 */
export function ownKey(url: string, env: Io["env"]): string | undefined {
  const key = env["PARLEY_KEY"] || undefined;
  const known = serverUrl(undefined, env);
  if (key === undefined || isSameAddress(url, known)) return key;
  throw new WrongUsage(
    `PARLEY_KEY is for the server at ${known}, and not for ${url}: set PARLEY_URL to ${url} if the key is that server's, else unset PARLEY_KEY`,
  );
}

/**
 * Returns the key that an agent shows to this server: `PARLEY_KEY`, else `A2H_API_KEY`, which is passed over for a
 * server that only a flag names.
 *
 * @throws {WrongUsage} as `ownKey` does
 */
export function agentKey(url: string, env: Io["env"]): string | undefined {
  const isNamedThere = isSameAddress(url, serverUrl(undefined, env));
  return ownKey(url, env) ?? (isNamedThere ? agentPlace(env).key : undefined);
}

/** Returns the client of that server, with the agent's key of the environment. */
export function openClient(url: string, env: Io["env"]): Parley {
  return new Parley({ url, key: agentKey(url, env) });
}

/** Returns a question and its answers: each one, or the tally of a choice. */
export function questionLines(question: Question): string[] {
  return [
    ...printableLines(question.prompt),
    ...talliedLines(question),
    `${countText(question)}${networksText(question)}, ${stateText(question)}`,
  ];
}

/** Returns a line for each option of a choice, or those of each answer. */
export function talliedLines({
  options,
  summary,
  responses = [],
}: Pick<Question, "options" | "summary"> & Partial<Pick<Question, "responses">>): string[] {
  if (!options) {
    return responses.flatMap(({ answer = "", confidence }) => {
      const [first = "", ...more] = printableLines(answer);
      const sure = confidence === undefined ? [] : [`    (confidence ${confidence} of 5)`];
      return [`  - ${first}`, ...more.map((line) => `    ${line}`), ...sure];
    });
  }
  const votes = options.map((option) => summary?.[option] ?? 0);
  const width = Math.max(...options.map((option) => printable(option).length));
  const most = Math.max(1, ...votes);
  return options.map((option, i) => {
    const count = votes[i] ?? 0;
    const bar = "█".repeat(Math.round((count / most) * BAR_WIDTH));
    return `  ${printable(option).padEnd(width)}  ${String(count).padStart(3)}  ${bar}`.trimEnd();
  });
}

/** Returns "n of m answers". */
export function countText({ current_responses, required_responses }: Question): string {
  return `${current_responses} of ${required_responses} ${required_responses === 1 ? "answer" : "answers"}`;
}

/**
 * Returns from how many networks the answers came; one program can be behind a network. The text is empty where there
 * are no answers, or where an older server does not send the number.
 */
function networksText({ current_responses: n, integrity }: Partial<Question>): string {
  if (n === 0 || integrity === undefined) return "";
  return integrity.networks === 1 ? " from one network" : ` from ${integrity.networks} networks`;
}

function stateText({ status, cancelled, closed_at, expires_at }: Question): string {
  if (status === "CLOSED") return `closed ${localTime(closed_at ?? "")}`;
  if (status === "EXPIRED") return cancelled ? "cancelled" : `expired ${localTime(expires_at)}`;
  return `open until ${localTime(expires_at)}`;
}
