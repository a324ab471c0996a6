export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const MOST_BLOCKS = 50;
/** The longest that all texts may be together. Slack refuses messages not far above. */
const MOST_IN_ALL = 9500;

/** By kind of block or element: the longest text of each of its fields, and how many parts it may have. */
const MOST: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  header: { text: 150 },
  section: { text: 3000 },
  context: { elements: 10 },
  actions: { elements: 25 },
  button: { text: 75, value: 2000, action_id: 255 },
  static_select: { options: 100, placeholder: 150, action_id: 255 },
  modal: { title: 24, submit: 24, close: 24, private_metadata: 3000, callback_id: 255, blocks: 100 },
  input: { label: 2000, hint: 2000, block_id: 255 },
  plain_text_input: { initial_value: 3000, action_id: 255 },
};

/** Any text object; its reference states less for some places, which stand above. */
const MOST_TEXT = 3000;

/** Returns what Slack would not take in blocks or a view, as far as its reference states it; else nothing. */
export function faultIn(blocks: Json, { isView = false }: { isView?: boolean } = {}): string | null {
  if (!Array.isArray(blocks)) return "blocks are no list";
  if (blocks.length > MOST_BLOCKS) return "too many blocks";
  let inAll = 0;
  const actions = new Set<string>();

  function look(value: Json, at: string): string | null {
    if (Array.isArray(value)) return firstFault(value.map((one, i) => look(one, `${at}/${i}`)));
    if (typeof value !== "object" || value === null) return null;
    const { type, action_id: action, text } = value;
    if (typeof text === "string") inAll += text.length;
    if ((type === "plain_text" || type === "mrkdwn" || type === "text") && (typeof text !== "string" || text === "")) {
      return `${at}: an empty text`;
    }
    if ((type === "plain_text" || type === "mrkdwn") && sizeOf(value) > MOST_TEXT) return `${at}: a text too long`;
    if (typeof text === "string" && !text.isWellFormed()) return `${at}: half a character`;
    if (type === "context" && Array.isArray(value["elements"]) && value["elements"].some((one) => sizeOf(one) > 2000)) {
      return `${at}/elements: a long one`;
    }
    const confirm = value["confirm"];
    if (typeof confirm === "object" && confirm !== null && "title" in confirm) {
      const most = { title: 100, text: 300, confirm: 30, deny: 30 };
      const long = Object.entries(most).find(([field, size]) => sizeOf(partOf(confirm, field)) > size);
      if (long) return `${at}/confirm/${long[0]}: more than ${long[1]}`;
    }
    if (type === "plain_text" && value["emoji"] !== false) return `${at}: emoji would be drawn`;
    if (type === "mrkdwn" && !/^(until )?<!date\^\d+\^/.test(String(text))) return `${at}: markup`;
    if (typeof action === "string") {
      if (actions.has(action)) return `${at}: two actions ${action}`;
      actions.add(action);
    }
    for (const [field, most] of Object.entries(MOST[String(type)] ?? {})) {
      if (sizeOf(value[field]) > most) return `${at}/${field}: more than ${most}`;
    }
    if (type === "static_select" && Array.isArray(value["options"])) {
      const long = value["options"].some(
        (one) => sizeOf(partOf(one, "text")) > 75 || sizeOf(partOf(one, "value")) > 75,
      );
      if (long) return `${at}/options: a long one`;
    }
    return firstFault(Object.entries(value).map(([key, one]) => look(one, `${at}/${key}`)));
  }

  return look(blocks, "") ?? (!isView && inAll > MOST_IN_ALL ? `too much text in all: ${inAll}` : null);
}

const firstFault = (faults: readonly (string | null)[]): string | null =>
  faults.find((fault) => fault !== null) ?? null;

function partOf(value: Json, key: string): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value[key] ?? null) : null;
}

function sizeOf(value: Json | undefined): number {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  const text = partOf(value ?? null, "text");
  return typeof text === "string" ? text.length : 0;
}
