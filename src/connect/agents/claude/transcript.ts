import { open, stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../lib/clock.ts";

const LOOK_EVERY_MS = 2000;
/** So much of what came before is looked through for the use of the tool itself. */
const BEFORE_BYTES = 2_000_000;
const LINE_FEED = 10;

/** A use of a tool, and the file in which Claude Code writes down what becomes of it. */
export interface Use {
  path: string;
  name: string;
  input: Readonly<Record<string, unknown>>;
}

/**
 * Resolves with true once the transcript holds the result of this use: somebody has decided at Claude Code's own
 * terminal, which tells no hook. Resolves with false when aborted. A transcript that cannot be read says nothing.
 */
export async function wasDecidedThere(use: Use, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const start = await sizeOf(use.path);
  let seen = start;
  while (!signal.aborted) {
    await clock.sleep(LOOK_EVERY_MS, signal);
    const size = await sizeOf(use.path);
    if (signal.aborted || size === seen) continue;
    seen = size;
    const from = Math.max(0, start - BEFORE_BYTES);
    const bytes = await bytesFrom(use.path, from, size);
    const id = blocksIn(bytes).findLast((block) => isUse(block, use))?.["id"];
    // Only what was written since then: the same call may have been made before.
    const results = blocksIn(bytes.subarray(start - from)).filter(({ type }) => type === "tool_result");
    if (typeof id === "string" && results.some(({ tool_use_id: of }) => of === id)) return true;
  }
  return false;
}

type Block = Record<string, unknown>;

function isUse(block: Block, { name, input }: Use): boolean {
  return block["type"] === "tool_use" && block["name"] === name && isDeepStrictEqual(block["input"], input);
}

/** Returns the parts of every message; a line that is cut off or not a message is skipped. */
function blocksIn(bytes: Buffer): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, at);
    const line = bytes.subarray(at, end < 0 ? bytes.length : end);
    at = end < 0 ? bytes.length : end + 1;
    if (!line.includes('"tool_')) continue;
    try {
      const { message } = JSON.parse(line.toString("utf8")) as { message?: { content?: unknown } };
      if (Array.isArray(message?.content)) blocks.push(...(message.content as Block[]));
    } catch {
      // Not a whole line.
    }
  }
  return blocks;
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

async function bytesFrom(path: string, from: number, to: number): Promise<Buffer> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
    return buffer.subarray(0, bytesRead);
  } catch {
    return Buffer.alloc(0);
  }
}
