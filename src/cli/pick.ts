import { printable } from "../lib/printable.ts";
import type { Io } from "./command.ts";

/** The choice from a list: the item at this place, more of the list, the list again, or the end. */
export type Picked = number | "more" | "list" | "quit";

/** Asks which item of a list somebody wants until they say one; `unknown` says that there is no such item. */
export async function pickAtTerminal(
  { ask, io }: { ask(question: string): Promise<string | null>; io: Io },
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
