/** The words of the pages about the work of coding agents. */
import type { Task, TaskEvent, WholeTask } from "@parley/sdk/tasks";
import { translated } from "../../language.ts";
import { text as english, type TaskTexts } from "./text.en.ts";

export const text: TaskTexts = translated(english, {
  de: () => import("./text.de.ts"),
  ar: () => import("./text.ar.ts"),
});

type Usage = NonNullable<WholeTask["attempts"][number]["usage"]>;

/** Returns the words for an event; nothing of it is ever markup. */
export function eventText(event: TaskEvent): string {
  const word = (name: string): string => {
    const value = event[name];
    return typeof value === "string" ? value : "";
  };
  // A later server may tell of other kinds.
  const type: string = event.type;
  switch (type) {
    case "state": {
      const state = word("state");
      return [text.state(state as Task["state"]) ?? state, word("error") || word("blockedReason")]
        .filter((part) => part !== "")
        .join(": ");
    }
    case "tool":
      return [word("name"), event["isError"] === true ? text.log.failed : ""].filter((part) => part !== "").join(", ");
    case "note":
      return text.log.answer(word("by"), word("text"));
    case "permission":
      return text.log.wants(word("tool"), word("resource"));
    case "answer":
      if (event["allow"] === true) return text.log.allowed;
      if (event["allow"] === false) return text.log.denied(word("why"));
      return word("text") === "" ? text.log.unanswered(word("why")) : text.log.answer(word("by"), word("text"));
    case "usage":
      return text.usage(event as Usage);
    default:
      return word("text") || word("message") || word("diff") || restOf(event);
  }
}

function restOf({ seq: _, at: __, attempt: ___, type: ____, ...rest }: TaskEvent): string {
  const words = Object.entries(rest).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return words.join(", ");
}
