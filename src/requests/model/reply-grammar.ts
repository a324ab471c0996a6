import type { ResponseOption } from "./request.ts";

/** The request that a reply answers, as far as its words depend on it. */
export interface Pending {
  kind: "approval" | "reply" | "value";
  /** For an approval, the ways to reject; for a reply, the ready-made answers. */
  options: readonly ResponseOption[];
}

/** The meaning of a person's words. */
export type ReadReply =
  | { kind: "approve" }
  | { kind: "reject"; comment?: string; option?: string }
  | { kind: "option"; name: string; comment?: string }
  | { kind: "text"; text: string }
  | { kind: "not_understood" };

const APPROVES: ReadonlySet<string> = new Set(["approve", "approved", "yes", "ok"]);
const REJECTS = /^(?:rejected|reject|denied|deny)(?![\p{L}\p{M}\p{N}_])/iu;
const YES = /^(?:approved|approve|yes|ok|true)(?:[^\S\n]*(?=[,.;:!\-\u2013\n])|$)/i;
/** A bare "no" rejects; "no problem" says nothing that may be counted. */
const NO = /^no(?:[^\S\n]*(?=[,.;:\-\u2013\n])|$)/i;
const SEPARATORS = /^[\s,.;:!\-\u2013]+/;

const CODE = "[23456789CDFGHJKMNPQRTVWX]{4}";
const CODE_FIRST = new RegExp(`^(${CODE})(?:\\s*[,.;:!\\-\\u2013]+)?(?:\\s+|$)`, "i");
const CODE_LAST = new RegExp(`(?:^|(?:[,;:\\-\\u2013]\\s*|(?<!\\s)\\s+))(${CODE})[.!]?$`, "i");

/** The words that Twilio takes for carriers by default; the French ones are Canada's. */
const PHONE_COMMANDS: ReadonlyMap<string, PhoneCommand> = new Map([
  ...["stop", "stopall", "unsubscribe", "optout", "arret", "arrete", "arrett"].map(certainly("stop")),
  ...["cancel", "end", "quit", "revoke"].map(possibly("stop")),
  ...["unstop"].map(certainly("start")),
  ...["start"].map(possibly("start")),
  ...["help", "info", "aide"].map(possibly("help")),
]);

/** The carrier's rules read a text message as one of these. */
export interface PhoneCommand {
  kind: "stop" | "start" | "help";
  /** False for an ordinary word: it is an answer where a question offers it. */
  certain: boolean;
}

function certainly(kind: PhoneCommand["kind"]) {
  return (word: string): [string, PhoneCommand] => [word, { kind, certain: true }];
}

function possibly(kind: PhoneCommand["kind"]) {
  return (word: string): [string, PhoneCommand] => [word, { kind, certain: false }];
}

/** Returns the member of a way to reject that reads as an approval, which none may. */
export function approvingMember(option: { name: string; title?: string | undefined }) {
  return (["name", "title"] as const).find((member) => APPROVES.has(flat(option[member] ?? "")));
}

/**
 * Returns the meaning of a person's words, by the one grammar of mail, phones and threads (spec/channels 3.2).
 *
 * Takes the visible text, quotes, signature and code removed. On an approval nothing is guessed: only a whole text that
 * is one of four words approves, and a way to reject that is called like one of them makes that word mean nothing. The
 * text of a free answer is as it was written.
 */
export function readReply(text: string, pending: Pending): ReadReply {
  const written = text.trim();
  if (written === "") return { kind: "not_understood" };
  switch (pending.kind) {
    case "value":
      return { kind: "text", text: written };
    case "reply": {
      const option = optionCalled(flat(written), pending.options);
      return option ? { kind: "option", name: option.name } : { kind: "text", text: written };
    }
    case "approval":
      return readDecision(written.normalize("NFKC").replace(/\r\n?/g, "\n").trim(), pending.options);
  }
}

function readDecision(text: string, options: readonly ResponseOption[]): ReadReply {
  const whole = flat(text);
  const chosen = readRejectOption(text, options);
  if (APPROVES.has(whole)) return chosen ? { kind: "not_understood" } : { kind: "approve" };
  if (chosen) return chosen;
  const word = REJECTS.exec(text) ?? (whole === "no" ? /^no/i.exec(text) : NO.exec(text));
  return word ? rejection(text.slice(word[0].length)) : { kind: "not_understood" };
}

/** The name, title or number of a way to reject, alone or before a colon and a comment. */
function readRejectOption(text: string, options: readonly ResponseOption[]): ReadReply | undefined {
  const whole = optionCalled(flat(text), options);
  if (whole) return { kind: "reject", option: whole.name };
  for (let colon = text.indexOf(":"); colon >= 0; colon = text.indexOf(":", colon + 1)) {
    const option = optionCalled(flat(text.slice(0, colon)), options);
    if (option) return { ...rejection(text.slice(colon)), option: option.name };
  }
  return undefined;
}

function rejection(rest: string): { kind: "reject"; comment?: string } {
  const comment = rest.replace(SEPARATORS, "").trimEnd();
  return comment === "" ? { kind: "reject" } : { kind: "reject", comment };
}

/** A name wins over a title, and a title that two options share names neither. */
function optionCalled(words: string, options: readonly ResponseOption[]): ResponseOption | undefined {
  const named = options.filter(({ name }) => flat(name) === words);
  const titled = options.filter(({ title }) => title !== undefined && flat(title) === words);
  const [found, another] = named.length > 0 ? named : titled;
  if (found) return another ? undefined : found;
  const number = /^#(\d{1,2})$/.exec(words)?.[1];
  return number === undefined ? undefined : options[Number(number) - 1];
}

/**
 * Returns what words say where `approved` is asked for with a comment: yes or no first, then the comment. A yes that goes
 * on without a comma may be no yes at all, so it is not understood.
 */
export function readYesOrNo(text: string): { approved: boolean; comment?: string } | null {
  const written = text.normalize("NFKC").replace(/\r\n?/g, "\n").trim();
  const yes = YES.exec(written);
  const word = yes ?? REJECTS.exec(written) ?? NO.exec(written);
  if (!word) return null;
  const comment = written.slice(word[0].length).replace(SEPARATORS, "").trimEnd();
  return { approved: yes !== null, ...(comment !== "" && { comment }) };
}

/** Returns a text as it is compared: one line, in lower case, without its last full stop or exclamation mark. */
export function flat(text: string): string {
  return text.normalize("NFKC").trim().replace(/\s+/g, " ").replace(/[.!]$/, "").trimEnd().toLowerCase();
}

/**
 * Takes the four-character code off the front or the end of a text; the code comes back in capitals.
 *
 * Four digits can as well be somebody's answer: where no code was needed, the caller reads the whole text instead.
 */
export function takeCode(text: string): { code?: string; rest: string } {
  const plain = text.normalize("NFKC").trim();
  const found = CODE_FIRST.exec(plain) ?? CODE_LAST.exec(plain);
  const code = found?.[1];
  if (!found || code === undefined) return { rest: text.trim() };
  const rest = found.index === 0 ? plain.slice(found[0].length) : plain.slice(0, found.index);
  return { code: code.toUpperCase(), rest: rest.trim() };
}

/**
 * Returns what a text message means to the carrier's rules, which come before the grammar: what Twilio itself says of it
 * in `OptOutType`, else what its only word says. Twilio's opt-in words hold YES, so its START leaves room for an answer.
 */
export function phoneCommand(text: string, optOutType?: string): PhoneCommand | null {
  const words = optOutType?.trim().toLowerCase();
  if (words === "stop" || words === "help") return { kind: words, certain: true };
  if (words === "start") return { kind: words, certain: false };
  const word = text
    .normalize("NFKD")
    .replace(/[\p{M}\s"'“”„«»-]/gu, "")
    .replace(/(?<![.!])[.!]+$/, "");
  return PHONE_COMMANDS.get(word.toLowerCase()) ?? null;
}
