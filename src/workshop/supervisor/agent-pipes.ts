import { closeSync, fstatSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Clock } from "../../lib/clock.ts";
import type { AgentPipes } from "../agents/agent.ts";
import { harmless, type Redaction } from "../redaction.ts";
import type { Started } from "../sandbox/run.ts";

const MOST_RAW_BYTES = 52_428_800;
/** No protocol has longer lines; what goes on is passed over, so that no agent can fill the memory. */
const LONGEST_LINE = 67_108_864;
const KEPT_STDERR = 4096;
/** How long to read the rest of a pipe after the program has ended. Another process may keep the pipe open for ever. */
const LAST_WORDS_MS = 500;

interface PipesOptions {
  folder: string;
  clock: Clock;
  redaction: Redaction;
  /** Called for each piece of the agent's output. */
  onOutput(): void;
  /** Called once the output is longer than its raw log may be. */
  onCut(): void;
}

/** Returns an adapter's end of a started agent. The agent's output also goes into `raw.log`, up to 50 MiB. */
export function openAgentPipes(
  { stdin, stdout, stderr, exited }: Started,
  { folder, clock, redaction, onOutput, onCut }: PipesOptions,
): AgentPipes & Disposable {
  const raw = openRawLog(folder, redaction, onCut);
  let kept = "";
  const readErrors = async () => {
    for await (const line of boundedLines(stderr, onOutput)) {
      raw.append(line);
      kept = `${kept}${line}\n`.slice(-KEPT_STDERR);
    }
  };
  const errorsRead = readErrors();
  const lastWords = async () => {
    const end = await exited;
    await Promise.race([errorsRead, clock.sleep(LAST_WORDS_MS)]);
    for (const stream of [stdout, stderr]) if (!stream.readableEnded) void letGo(stream, clock);
    return { ...end, stderr: harmless(redaction.text(kept.trim())) };
  };
  async function* lines(): AsyncGenerator<string> {
    for await (const line of boundedLines(stdout, onOutput)) {
      raw.append(line);
      yield line;
    }
  }
  return {
    lines: lines(),
    write: (line) => void (stdin.writable && stdin.write(`${line}\n`)),
    closeInput: () => void stdin.end(),
    exited: lastWords(),
    clock,
    [Symbol.dispose]: () => {
      stdout.destroy();
      stderr.destroy();
      raw.close();
    },
  };
}

async function letGo(stream: Readable, clock: Clock): Promise<void> {
  await clock.sleep(LAST_WORDS_MS);
  stream.destroy();
}

/** Like `linesOf`, of a stream that may be torn down, and with lines that may be far too long. */
async function* boundedLines(stream: Readable, onOutput: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const part of stream as AsyncIterable<Uint8Array>) {
      onOutput();
      const [first = "", ...more] = decoder.decode(part, { stream: true }).split("\n");
      if (rest.length <= LONGEST_LINE) rest += first;
      for (const next of more) {
        yield rest.replace(/\r$/, "");
        rest = next;
      }
    }
  } catch {
    // Torn down: what came before is all there is.
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}

interface RawLog {
  append(line: string): void;
  close(): void;
}

function openRawLog(folder: string, redaction: Redaction, onCut: () => void): RawLog {
  const file = openSync(join(folder, "raw.log"), "a", 0o600);
  let size = fstatSync(file).size;
  let isOpen = true;
  return {
    append(line) {
      if (!isOpen || size > MOST_RAW_BYTES) return;
      const bytes = Buffer.from(`${harmless(redaction.text(line))}\n`);
      const isLast = size + bytes.length > MOST_RAW_BYTES;
      size += bytes.length;
      writeSync(file, isLast ? Buffer.from("[the rest of the output is not kept]\n") : bytes);
      if (isLast) onCut();
    },
    close() {
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}
