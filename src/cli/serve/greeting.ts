import { createSignInLink } from "../../access/create-sign-in-link.ts";
import { signInAddress } from "../../access/model/sign-in-address.ts";
import type { Config } from "../../config/config.ts";
import { postgresPlace } from "../../lib/network/postgres-hosts.ts";
import { VERSION } from "../../lib/version.ts";
import type { RunningServer } from "../../server/server.ts";
import type { Io } from "../command.ts";
import { logLine } from "./log-line.ts";

/** Which of its two outputs the server writes to a terminal; programs read the others, line by line. */
export interface AtTerminal {
  out: boolean;
  err: boolean;
}

/** A label and its text; `secret` keeps the line off standard output. */
interface Line {
  label: string;
  text: string;
  secret?: boolean;
}

/**
 * Returns what to do next, ready to paste (spec/security 2), as it is to be written: secrets go to standard error, and
 * where that is no terminal, at the very first start only, so that no log is given a new one with each restart.
 */
export async function openGreeting(server: RunningServer, config: Config, at: AtTerminal): Promise<(io: Io) => void> {
  const url = config.port === 0 && config.publicUrl.endsWith(":0") ? server.url : config.publicUrl;
  const isShown = at.err || server.firstKey !== null;
  const { code } = isShown ? await createSignInLink(server.ctx, undefined) : { code: null };
  const reach = reachText(server, config);
  const lines = [
    { label: "answer", text: `${url}/` },
    ...(code === null ? [] : [signInLine(url, code)]),
    agentsLine(url, server, config),
    askLine(url, server, config),
    { label: "data", text: `${placeText(config)}    ${server.describes}` },
  ];
  return (io) => {
    if (at.out) io.out(`Parley ${VERSION}  ${url}   ${reach}`);
    for (const { label, text, secret } of lines) {
      if (secret) io.tell(at.err ? aligned(label, text) : `${label}: ${text}`);
      else if (at.out) io.out(aligned(label, text));
    }
    if (at.out) return;
    const place = { url, version: VERSION, data: placeText(config), store: server.describes };
    io.out(logLine(`Parley listens: ${reach}`, "info", place));
  };
}

const aligned = (label: string, text: string) => `  ${label.padEnd(8)}${text}`;

function signInLine(url: string, code: string): Line {
  const text = `${signInAddress(url, "admin", code)}    works once, 30 minutes; another: parley link`;
  return { label: "you", text, secret: true };
}

function agentsLine(url: string, server: RunningServer, config: Config): Line {
  const { firstKey } = server;
  const place = `export PARLEY_URL=${url}`;
  if (firstKey !== null) return { label: "agents", text: `${place} PARLEY_KEY=${firstKey}`, secret: true };
  const needed = asksWithoutKey(server, config) ? "no key needed here; " : "";
  return { label: "agents", text: `${place}    ${needed}a key: parley keys create NAME --scope agent` };
}

/** The key is not repeated: whoever pastes the line above has it in the environment. */
function askLine(url: string, server: RunningServer, config: Config): Line {
  const bearer = asksWithoutKey(server, config) ? "" : ` -H "Authorization: Bearer $PARLEY_KEY"`;
  const question = {
    prompt: "Which label is clearer?",
    type: "multiple_choice",
    options: ["Send", "Submit"],
    min_responses: 1,
  };
  const request = `-H "Content-Type: application/json"${bearer} -d '${JSON.stringify(question)}'`;
  return { label: "ask", text: `curl ${url}/agent/questions ${request}` };
}

function asksWithoutKey({ othersReachIt }: RunningServer, { open }: Config): boolean {
  return open ?? othersReachIt === null;
}

/** Returns the text about access without a key or a sign-in, and the reason why more than this computer has it. */
function reachText({ othersReachIt }: RunningServer, { open, crowd }: Config): string {
  const isOwn = othersReachIt === null;
  if (isOwn && !open && !crowd.public) {
    return open === false ? "for this computer only, with keys" : "open to this computer only";
  }
  const butHere = isOwn ? ", except on this computer" : "";
  const asking = open ? "OPEN: whoever reaches it may ask" : `asking needs a key${open === false ? "" : butHere}`;
  const answering = crowd.public ? "whoever reaches it may answer" : `answering needs a sign-in${butHere}`;
  return `${asking}; ${answering}${isOwn ? "" : ` (${othersReachIt})`}`;
}

function placeText({ dataDir, databaseUrl }: Config): string {
  return databaseUrl === undefined ? dataDir : postgresPlace(databaseUrl);
}
