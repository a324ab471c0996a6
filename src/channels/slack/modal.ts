import type { RequestView } from "../../requests/model/view.ts";
import type { Field } from "../../requests/model/schema-shape.ts";
import type { ReplyContent } from "../channel.ts";
import { type Block, cut, MOST_BUTTON, plain, section } from "./blocks.ts";
import { at, textAt } from "./web.ts";

/** The purpose of an editor: a reason to reject, an option to edit, or a free answer. */
export type Purpose = { kind: "reject" } | { kind: "answer" } | { kind: "option"; index: number };

const MOST_INPUT = 3000;
const MOST_LABEL = 150;
const MOST_HINT = 500;
/** Slack takes no larger view. */
const MOST_VIEW_BYTES = 250_000;

/** The message under which an editor was opened. */
export interface EditedMessage {
  delivery: string;
  channel: string;
  ts: string;
}

/**
 * Returns the editor for a request as `views.open` takes it. `private_metadata` is the delivery's id and the timestamp of its
 * message; the channel stands in the names of its fields. Slack sends neither with what was entered.
 */
export function modalFor(purpose: Purpose, view: RequestView, { delivery, channel, ts }: EditedMessage): object {
  const option = purpose.kind === "option" ? view.options[purpose.index] : undefined;
  const title = option?.title ?? option?.name;
  const isRejection = view.kind === "approval";
  const words = option?.promptFill;
  const fields = purpose.kind === "answer" && view.shape?.kind === "object" ? view.shape.fields : [];
  const form = modalOf(fields.map((field, i) => fieldBlock(field, i, channel)));
  // A form that is too large is replaced by one field for JSON.
  const isDrawn = fields.length > 0 && Buffer.byteLength(JSON.stringify(form)) <= MOST_VIEW_BYTES;
  return isDrawn ? form : modalOf([wordsBlock()]);

  function modalOf(inputs: readonly Block[]): object {
    return {
      type: "modal",
      callback_id: purpose.kind === "option" ? `parley:opt:${purpose.index}` : `parley:${purpose.kind}`,
      private_metadata: `${delivery} ${ts}`,
      title: plain(isRejection ? "Reject" : "Answer"),
      submit: plain(isRejection ? "Reject" : "Send"),
      close: plain("Back"),
      blocks: [section(cut(view.sentence ?? view.fn ?? view.title, MOST_INPUT)), ...inputs],
    };
  }

  function wordsBlock(): Block {
    const asked = fields.length > 0 ? "Your answer, as JSON" : "Your answer";
    const isOptional = view.shape?.kind === "decision" && view.shape.comment === "optional";
    return {
      type: "input",
      block_id: channel,
      optional: purpose.kind === "reject" || isOptional,
      label: plain(title ? cut(title, MOST_BUTTON) : isRejection ? "Why? The agent reads this." : asked),
      element: {
        type: "plain_text_input",
        action_id: "parley:text",
        multiline: true,
        max_length: MOST_INPUT,
        ...(words && { initial_value: words.slice(0, MOST_INPUT).replace(/[\ud800-\udbff]$/, "") }),
      },
    };
  }
}

/** One field of a form; its place stands in its names, because Slack sends nothing else of it back. */
function fieldBlock({ label, description, required, nullable, of }: Field, place: number, channel: string): Block {
  const action = { action_id: `parley:field:${place}` };
  const hint = [...(description === undefined ? [] : [description]), ...(of.kind === "choice" ? [] : [of.says])];
  return {
    type: "input",
    block_id: `${channel}:${place}`,
    optional: !required || nullable,
    label: plain(label, MOST_LABEL),
    ...(hint.length > 0 && { hint: plain(cut(hint.join("; "), MOST_HINT)) }),
    element:
      of.kind === "choice"
        ? {
            type: "static_select",
            ...action,
            options: of.offers.map((offer, i) => ({
              text: plain(offer.label.trim() || `#${i + 1}`, MOST_BUTTON),
              value: String(i),
            })),
          }
        : { type: "plain_text_input", ...action, max_length: MOST_INPUT },
  };
}

/** The answer that a person entered into one of our editors. */
export interface Entered extends EditedMessage {
  content: ReplyContent;
}

/** Returns the entered answer; null for a view that is not ours. */
export function readEntered(view: unknown): Entered | null {
  const [delivery = "", ts = ""] = textAt(view, "private_metadata").split(" ");
  const purpose = purposeOf(textAt(view, "callback_id"));
  const values = Object.entries(at(view, "state", "values") ?? {});
  const channel = values[0]?.[0].split(":")[0];
  if (!purpose || channel === undefined || delivery === "") return null;
  const fields = filledFields(values);
  if (fields.length > 0) return { delivery, channel, ts, content: { fields } };
  return { delivery, channel, ts, content: contentOf(purpose, textAt(values[0]?.[1], "parley:text", "value").trim()) };
}

function filledFields(values: readonly [string, unknown][]): (string | null)[] {
  const fields: (string | null)[] = [];
  for (const [, block] of values) {
    for (const [name, input] of Object.entries(block ?? {})) {
      const place = /^parley:field:(\d{1,2})$/.exec(name)?.[1];
      if (place === undefined) continue;
      fields[Number(place)] = textAt(input, "value") || textAt(input, "selected_option", "value") || null;
    }
  }
  return Array.from(fields, (field) => field ?? null);
}

/** Returns the purpose of the editor that an action opens; null for an action that decides at once or is not ours. */
export function purposeOf(name: string): Purpose | null {
  const [, index] = /^parley:opt:(\d{1,2})$/.exec(name) ?? [];
  if (index !== undefined) return { kind: "option", index: Number(index) };
  if (name === "parley:reject") return { kind: "reject" };
  return name === "parley:answer" ? { kind: "answer" } : null;
}

function contentOf(purpose: Purpose, text: string): ReplyContent {
  switch (purpose.kind) {
    case "reject":
      return { choice: { kind: "reject", ...(text !== "" && { comment: text }) } };
    case "option":
      return { choice: { kind: "option", index: purpose.index, ...(text !== "" && { text }) } };
    case "answer":
      return { text };
  }
}
