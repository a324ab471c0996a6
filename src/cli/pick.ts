import { printable } from "../lib/printable.ts";
import type { Io } from "./command.ts";

/** The person's next step after an item. */
export type Move = "next" | "list" | "quit";

/** A person at a terminal; what they say is null when they are done. */
export interface Terminal {
  io: Io;
  ask(question: string): Promise<string | null>;
}

/** A list that comes in pages, and what is done with an item of it. */
interface Paged<T> {
  read(cursor: string | null): Promise<{ items: T[]; next: string | null }>;
  /** The lines for these items, of which `before` others stand above. */
  lines(items: readonly T[], before: number): string[];
  present(item: T): Promise<Move>;
  empty: string;
  unknown: string;
}

/** Returns the person at the terminal of these streams. */
export const terminalOf = (io: Io): Terminal => ({
  io,
  ask: async (question) => (await io.prompt?.(question))?.trim() ?? null,
});

/** Shows a list again and again, and its items from the chosen one on, until the person is done or nothing is left. */
export async function goThrough<T>(
  terminal: Terminal,
  { read, lines, present, empty, unknown }: Paged<T>,
): Promise<void> {
  const { io } = terminal;
  for (;;) {
    const shown: T[] = [];
    let chosen: Picked = "more";
    for (let cursor: string | null = null; chosen === "more";) {
      const page = await read(cursor);
      for (const line of lines(page.items, shown.length)) io.tell(line);
      shown.push(...page.items);
      if (shown.length === 0) {
        io.tell(empty);
        return;
      }
      cursor = page.next;
      chosen = await pick(terminal, { count: shown.length, hasMore: cursor !== null, unknown });
    }
    if (chosen === "quit") return;
    for (const item of typeof chosen === "number" ? shown.slice(chosen) : []) {
      const move = await present(item);
      if (move === "quit") return;
      if (move === "list") break;
    }
  }
}

/** The choice from a list: the item at this place, more of the list, the list again, or the end. */
type Picked = number | "more" | "list" | "quit";

/** Asks which item of a list somebody wants until they say one; `unknown` says that there is no such item. */
async function pick(
  { ask, io }: Terminal,
  list: { count: number; hasMore: boolean; unknown: string },
): Promise<Picked> {
  const { count, hasMore, unknown } = list;
  const commands = hasMore ? "/more, /list, /quit" : "/list, /quit";
  for (;;) {
    const word = await ask(`Which one? 1-${count}, Enter for the first, ${commands}: `);
    if (word === null || word === "/quit") return "quit";
    if (word === "/list") return "list";
    if (word === "/more" && hasMore) return "more";
    const number = word === "" ? 1 : Number(word);
    if (Number.isInteger(number) && number >= 1 && number <= count) return number - 1;
    io.tell(`${unknown} ${printable(word)}.`);
  }
}
