import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { HOOK_PROGRAM, MAIN, newFolder, parley, type Run, serve, stop, until } from "../support/program.ts";

/** The programs of the agents that are installed for these tests. */
export const PROGRAMS = fileURLToPath(new URL("node_modules/.bin", import.meta.url));
export const TASK = "Release version 1.4.2";

/** A request as it stands in the inbox. */
export interface WaitingAsk {
  id: string;
  title: string;
}

/** A request as its person sees it whole. */
interface WholeAsk extends WaitingAsk {
  digest: string | null;
  arguments?: { name: string; text: string }[];
}

/** A server, the inbox of its operator, and a home folder in which an agent has Parley's hook. */
export interface HookedSite extends AsyncDisposable {
  server: Run & { url: string };
  /** The home of the agent, in which it also works. */
  folder: string;
  /** Its variables: `parley` and the agents are on its PATH, and its key names it at the server. */
  env: Record<string, string>;
  inbox(): Promise<WaitingAsk[]>;
  /** Resolves with the only request of this title once it waits. */
  waiting(title: string): Promise<WholeAsk>;
  /** Decides the only request of this title once it waits, by `parley inbox` with these flags. */
  decide(title: string, flags: (ask: WholeAsk) => readonly string[]): Promise<void>;
  /** Decides it as the web app does, with what stands in this body. */
  post(title: string, body: object): Promise<void>;
  /** Decides the request with this id in the same way. */
  postTo(id: string, body: object): Promise<void>;
  /** Sends a note to the agent whose only request has this title, once it waits. */
  note(title: string, text: string): Promise<void>;
  /** Resolves with the ends of approved calls, once as many as these are reported: the state, and the words. */
  ends(count?: number): Promise<string[]>;
  /** Resolves once no request waits. */
  emptied(): Promise<void>;
  /** Kills the server, and waits until it is gone. */
  killServer(): Promise<void>;
  /** Starts a server at the same address with the same data. */
  restartServer(): Promise<void>;
  /** The processes of the hook that run for this agent. */
  hooks(): number[];
  /** Kills the agent outright: its processes, and neither its hooks nor the shells in which they run. */
  killAgent(): void;
  /** Whether the command has run by which these agents release something. */
  isReleased(name?: string): boolean;
}

/** Returns the folder that a person sees. */
export function folderIn({ arguments: shown = [] }: WholeAsk): unknown {
  const folder = shown.find(({ name }) => name === "cwd");
  return folder && JSON.parse(folder.text);
}

/** Approves exactly what was shown. */
export const APPROVE = ({ digest }: WholeAsk) => ["--approve", digest ?? ""];
/** Rejects with a reason, which reaches the model. */
export const REJECT = () => ["--reject", "--comment", "use the staging bucket"];
export const REASON = /use the staging bucket/;

/** Opens a site whose home has the hook of this agent as `parley hook install` writes it, beside these settings. */
export async function openHookedSite(
  agent: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<HookedSite> {
  const [folder, dataDir] = [newFolder(), newFolder()];
  const server = await serve(dataDir);
  const keyOf = async (...args: string[]) =>
    (await parley(["keys", "create", ...args], { PARLEY_DATA_DIR: dataDir })).out.trim();
  const key = await keyOf("coder", "--scope", "agent");
  const phone = { PARLEY_URL: server.url, PARLEY_KEY: await keyOf("phone", "--scope", "answer", "--person", "1") };
  const env = { PATH: pathWithParley(folder), HOME: folder, PARLEY_URL: server.url, PARLEY_KEY: key };
  for (const [file, text] of Object.entries(settings)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const { code, err } = await parley(["hook", "install", agent], env);
  assert.equal(code, 0, err);
  return siteOf({ server, dataDir, folder, env, phone });
}

/** Returns the processes whose home is this folder, with their command lines, by Linux's own list. */
function processesBelow(folder: string): { pid: number; line: string[] }[] {
  const text = (pid: string, name: string) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, "latin1").split("\0");
    } catch {
      return [];
    }
  };
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const own = all.filter((pid) => text(pid, "environ").includes(`HOME=${folder}`));
  return own.map((pid) => ({ pid: Number(pid), line: text(pid, "cmdline") }));
}

const isHook = ({ line }: { line: string[] }) => line.slice(1, 3).join(" ") === `${HOOK_PROGRAM} hook`;
const isShell = ({ line }: { line: string[] }) => /(^|\/)(ba|da)?sh$/.test(line[0] ?? "");

/** Returns a PATH on which a shell finds `parley`, the agents and this Node. */
function pathWithParley(folder: string): string {
  mkdirSync(join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "bin/parley"), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(join(folder, "bin/parley"), 0o755);
  return [join(folder, "bin"), PROGRAMS, dirname(process.execPath), process.env["PATH"]].join(delimiter);
}

interface Opened extends Pick<HookedSite, "server" | "folder" | "env"> {
  dataDir: string;
  phone: { PARLEY_URL: string; PARLEY_KEY: string };
}

function siteOf({ dataDir, phone, ...opened }: Opened): HookedSite {
  const read = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await parley(["inbox", ...args, "--json"], phone)).out) as T;
  const inbox = () => read<WaitingAsk[]>();
  const waiting = async (title: string): Promise<WholeAsk> => {
    const alone = async () => {
      const asks = (await inbox()).filter((ask) => ask.title === title);
      return asks.length === 1 ? asks[0] : undefined;
    };
    const { id } = await until(alone, `the request ${title}`);
    return read<WholeAsk>(id);
  };
  const { folder } = opened;
  const send = async (path: string, body: object): Promise<void> => {
    const headers = { authorization: `Bearer ${phone.PARLEY_KEY}`, "content-type": "application/json" };
    const sent = { method: "POST", headers, body: JSON.stringify(body) };
    const reply = await fetch(`${site.server.url}${path}`, sent);
    assert.equal(reply.status, 200, await reply.text());
  };
  const site: HookedSite = {
    ...opened,
    inbox,
    waiting,
    async decide(title, flags) {
      const ask = await waiting(title);
      const { code, err } = await parley(["inbox", ask.id, ...flags(ask)], phone);
      assert.equal(code, 0, err);
    },
    async post(title, body) {
      await site.postTo((await waiting(title)).id, body);
    },
    async note(title, text) {
      await send(`/people/me/asks/${(await waiting(title)).id}/notes`, { text });
    },
    async postTo(id, body) {
      const { digest } = await read<WholeAsk>(id);
      await send(`/people/me/asks/${id}/decision`, { ...(digest !== null && { digest }), ...body });
    },
    ends: (count = 1) =>
      until(() => {
        using store = new DatabaseSync(join(dataDir, "parley.db"), { readOnly: true });
        const rows = store.prepare("SELECT state, words FROM call_outcomes WHERE state <> 'awaited' ORDER BY at").all();
        const ends = rows.map(({ state, words }) => [state, words].filter((part) => part !== null).join(", "));
        return Promise.resolve(ends.length >= count ? ends : undefined);
      }, "the ends of calls"),
    async emptied() {
      await until(async () => (await inbox()).length === 0, "an empty inbox");
    },
    async killServer() {
      site.server.child.kill("SIGKILL");
      await site.server.ended;
    },
    async restartServer() {
      site.server = await serve(dataDir, {}, "--port", new URL(site.server.url).port);
    },
    hooks: () => processesBelow(folder).flatMap((one) => (isHook(one) ? [one.pid] : [])),
    killAgent() {
      for (const one of processesBelow(folder)) if (!isHook(one) && !isShell(one)) process.kill(one.pid, "SIGKILL");
    },
    isReleased: (name = "released.txt") => existsSync(join(folder, name)),
    async [Symbol.asyncDispose]() {
      await stop(site.server);
    },
  };
  return site;
}
