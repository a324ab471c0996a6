import type { AskView } from "../../model/ask-view.ts";
import type { Choice } from "../channel.ts";
import { type Block, cut, MOST_BUTTON, plain, section } from "./blocks.ts";
import { at, textAt } from "./web.ts";

/** What an editor is for: a reason to reject, an option that is edited, or a free answer. */
export type Purpose = { is: "reject" } | { is: "answer" } | { is: "option"; index: number };

const MOST_INPUT = 3000;

/**
 * Returns the editor for an ask as `views.open` takes it. `private_metadata` is the delivery's id and nothing else; where
 * it was opened stands in the name of its field, because Slack sends no channel with what was entered.
 */
export function modalFor(purpose: Purpose, view: AskView, delivery: string, channel: string): object {
  const option = purpose.is === "option" ? view.options[purpose.index] : undefined;
  const title = option?.title ?? option?.name;
  const isRejection = view.kind === "approval";
  const words = option?.promptFill;
  const about: Block = section(cut(view.fn ?? view.title, MOST_INPUT));
  return {
    type: "modal",
    callback_id: purpose.is === "option" ? `parley:opt:${purpose.index}` : `parley:${purpose.is}`,
    private_metadata: delivery,
    title: plain(isRejection ? "Reject" : "Answer"),
    submit: plain(isRejection ? "Reject" : "Send"),
    close: plain("Back"),
    blocks: [
      about,
      {
        type: "input",
        block_id: channel,
        optional: purpose.is === "reject",
        label: plain(title ? cut(title, MOST_BUTTON) : isRejection ? "Why? The agent reads this." : "Your answer"),
        element: {
          type: "plain_text_input",
          action_id: "parley:text",
          multiline: true,
          max_length: MOST_INPUT,
          ...(words && { initial_value: words.slice(0, MOST_INPUT) }),
        },
      },
    ],
  };
}

/** What somebody entered into an editor of ours. */
export interface Entered {
  delivery: string;
  channel: string;
  said: { choice: Choice } | { text: string };
}

/** Returns what was entered, or nothing where the view is none of ours. */
export function readEntered(view: unknown): Entered | null {
  const delivery = textAt(view, "private_metadata");
  const purpose = purposeOf(textAt(view, "callback_id"));
  const [channel, fields] = Object.entries(at(view, "state", "values") ?? {})[0] ?? [];
  const text = textAt(fields, "parley:text", "value").trim();
  if (!purpose || channel === undefined || delivery === "") return null;
  return { delivery, channel, said: saidBy(purpose, text) };
}

/** Returns what an action is about to ask in an editor; nothing where it decides at once, or is none of ours. */
export function purposeOf(name: string): Purpose | null {
  const [, index] = /^parley:opt:(\d{1,2})$/.exec(name) ?? [];
  if (index !== undefined) return { is: "option", index: Number(index) };
  if (name === "parley:reject") return { is: "reject" };
  return name === "parley:answer" ? { is: "answer" } : null;
}

function saidBy(purpose: Purpose, text: string): Entered["said"] {
  switch (purpose.is) {
    case "reject":
      return { choice: { is: "reject", ...(text !== "" && { comment: text }) } };
    case "option":
      return { choice: { is: "option", index: purpose.index, ...(text !== "" && { text }) } };
    case "answer":
      return { text };
  }
}
