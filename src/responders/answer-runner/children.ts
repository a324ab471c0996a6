import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Tokens } from "../../asks/model/model-budget.ts";
import type { Clock } from "../../lib/clock.ts";
import { AS_NODE, nodeOptions } from "../../lib/own-program.ts";
import { type FailedTurn, type FromChild, lineOf, type ModelAddress, type ToChild, type Turn } from "./wire.ts";

/** How a turn ended. `gone`: the child died, or was killed because it did not end by itself. */
export type TurnEnd = { text: string } | { why: FailedTurn | "gone"; says: string };

/** Serves the requests of a child while it takes its turn. */
export interface TurnHelp {
  maySpend(most: Tokens): Promise<boolean>;
  spent(tokens: Tokens | null): void;
  /** Returns the result for the model. Null ends the turn, because the tool failed. */
  call(name: string, args: unknown): Promise<string | null>;
}

/** One process that speaks with the model for one ask. */
export interface Child {
  readonly pid: number | undefined;
  /** Resolves when the turn has ended, at the latest a second after its limit; with null where `call` ended it. */
  takeTurn(turn: Turn, help: TurnHelp): Promise<TurnEnd | null>;
  /** The process is gone soon after this. */
  end(): void;
}

/** The processes of one server. */
export interface Children {
  /** Returns a process of its own, usually one that has started already. */
  take(): Child;
  /** Why the last process could not begin, or null. */
  readonly trouble: string | null;
  close(): Promise<void>;
}

export interface ChildrenSettings {
  address: ModelAddress;
  /** The environment of the child: PATH, LANG and the one key. */
  env: Readonly<Record<string, string>>;
  clock: Clock;
  /** Called with the text that a failed child wrote to its standard error. */
  onFailure(text: string): void;
}

const KEPT_READY = 2;
const GRACE_MS = 1000;
const MOST_HEAP_MB = 256;
/** The longest message of a child, in characters, with room to spare for a model's reply. */
const MOST_LINE_CHARS = 4_194_304;
const KEPT_STDERR_CHARS = 2000;

const PROGRAM = fileURLToPath(new URL("./child.ts", import.meta.url));
/** The program and its packages. */
const MAY_READ = [
  new URL("../../", import.meta.url),
  new URL("../../../node_modules/", import.meta.url),
  new URL("../../../package.json", import.meta.url),
].map((url) => fileURLToPath(url));
const OPTIONS = nodeOptions([
  "--permission",
  ...MAY_READ.map((path) => `--allow-fs-read=${path}`),
  "--disallow-code-generation-from-strings",
  `--max-old-space-size=${MOST_HEAP_MB}`,
  "--no-warnings",
]);

/**
 * Opens the answer-runner's processes (spec/relay 12). Two are kept started and idle; each serves one
 * ask. One that died while it was idle is not replaced before an ask comes, so that a model that cannot be loaded does
 * not start processes without end.
 */
export function openChildren(settings: ChildrenSettings): Children {
  const idle: StartedChild[] = [];
  const living = new Set<StartedChild>();
  let isClosed = false;
  let trouble: string | null = null;

  function start(): StartedChild {
    const child = startChild(settings, (text) => {
      trouble = text;
    });
    living.add(child);
    void child.gone.then(() => living.delete(child));
    // Its last words may still be on the way; nobody is to be given it for all that.
    void child.exited.then(() => {
      const place = idle.indexOf(child);
      if (place >= 0) idle.splice(place, 1);
    });
    void child.ready.then((isReady) => {
      if (isReady) trouble = null;
    });
    return child;
  }
  function fill(): void {
    while (!isClosed && idle.length < KEPT_READY) idle.push(start());
  }

  fill();
  return {
    take() {
      const child = idle.shift() ?? start();
      fill();
      return child;
    },
    get trouble() {
      return trouble;
    },
    async close() {
      isClosed = true;
      for (const child of living) child.end();
      await Promise.all([...living].map(({ gone }) => gone));
    },
  };
}

interface StartedChild extends Child {
  ready: Promise<boolean>;
  exited: Promise<void>;
  gone: Promise<void>;
}

function startChild({ address, env, clock, onFailure }: ChildrenSettings, fails: (text: string) => void): StartedChild {
  const process_ = spawn(process.execPath, [...OPTIONS.args, ...AS_NODE, PROGRAM], {
    env: { ...env, ...OPTIONS.env },
    stdio: "pipe",
  });
  const life = { hasBegun: false, wasEnded: false };
  const stderr = lastWordsOf(process_);
  // A pipe breaks when its process dies, which is handled below.
  process_.stdin.on("error", () => undefined);

  const incoming = hearing(process_);
  const exited = new Promise<void>((resolve) => process_.once("exit", () => resolve()));
  const say = (message: ToChild): void => void process_.stdin.write(lineOf(message));
  const gone = goneOf(process_, (error) => {
    incoming.end();
    if (life.wasEnded) return;
    const text = stderr() || error?.message || "it ended without a word";
    onFailure(text);
    if (!life.hasBegun) fails(text.split("\n").at(0) ?? text);
  });
  say({ type: "begin", address });
  const ready = incoming.next().then((message) => {
    life.hasBegun = message?.type === "ready";
    return life.hasBegun;
  });

  function end(): void {
    life.wasEnded = true;
    process_.kill("SIGKILL");
  }

  return {
    pid: process_.pid,
    ready,
    exited,
    gone,
    end,
    async takeTurn(turn, help) {
      const over = new AbortController();
      const late = clock.sleep(turn.limitMs + GRACE_MS, over.signal).then((): TurnEnd => {
        if (!over.signal.aborted) end();
        return { why: "time", says: `no answer in ${turn.limitMs} ms` };
      });
      const taken = ready.then((isReady): Promise<TurnEnd | null> | TurnEnd => {
        if (!isReady) return { why: "gone", says: "the process of the model could not begin" };
        say({ type: "turn", turn });
        return followTurn(incoming, say, help);
      });
      // Nobody waits for a result after the limit.
      taken.catch(() => undefined);
      try {
        return await Promise.race([taken, late]);
      } finally {
        over.abort();
      }
    },
  };
}

/** Keeps the end of what a child writes on its standard error, and returns how it is read. */
function lastWordsOf(child: ChildProcessWithoutNullStreams): () => string {
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-KEPT_STDERR_CHARS)));
  return () => stderr.trim();
}

/** Resolves, after `onOver`, when a child and its pipes are gone, or when it could never be started. */
function goneOf(child: ChildProcessWithoutNullStreams, onOver: (error: Error | undefined) => void): Promise<void> {
  return new Promise((resolve) => {
    let failure: Error | undefined;
    const over = (): void => {
      onOver(failure);
      resolve();
    };
    child.once("close", over);
    child.once("error", (error) => {
      failure = error;
      if (child.pid === undefined) over();
    });
  });
}

/** Does what a child asks for until its turn is over; null where `help.call` ended it. */
async function followTurn(incoming: Hearing, say: (message: ToChild) => void, help: TurnHelp): Promise<TurnEnd | null> {
  for (;;) {
    const message = await incoming.next();
    switch (message?.type) {
      case "spend":
        say({ type: "spend", may: await help.maySpend(message.most) });
        break;
      case "spent":
        help.spent(message.tokens);
        break;
      case "call": {
        const text = await help.call(message.name, message.args);
        if (text === null) return null;
        say({ type: "result", text });
        break;
      }
      case "done":
        return { text: message.text };
      case "failed":
        return { why: message.why, says: message.says };
      case "ready":
      case undefined:
        return { why: "gone", says: "the process of the model died" };
    }
  }
}

type Hearing = ReturnType<typeof hearing>;

/** Reads the messages of a child, one at a time; undefined after the last. */
function hearing(child: ChildProcessWithoutNullStreams) {
  const waiting: FromChild[] = [];
  let rest = "";
  let isOver = false;
  let wake: (() => void) | null = null;

  function ring(): void {
    wake?.();
    wake = null;
  }
  function end(): void {
    isOver = true;
    ring();
  }
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    try {
      for (const line of lines) waiting.push(JSON.parse(line) as FromChild);
      if (rest.length > MOST_LINE_CHARS) throw new Error("the line is too long");
    } catch {
      child.kill("SIGKILL");
    }
    ring();
  });

  return {
    end,
    async next(): Promise<FromChild | undefined> {
      while (waiting.length === 0 && !isOver) await new Promise<void>((resolve) => (wake = resolve));
      return waiting.shift();
    },
  };
}
