import { isNamed, textOf, type ArgumentLeaf } from "./leaves.ts";
import { knownSet } from "./name-words.ts";
import { strongestFirst } from "./strongest.ts";

/** Who gets a mail, about what. */
export interface Mail {
  subject: ArgumentLeaf | null;
  bodies: readonly ArgumentLeaf[];
  /** The receiver that reaches most stands first; copies and blind copies are among them. */
  receivers: readonly string[];
  leaves: readonly ArgumentLeaf[];
}

const RECEIVERS = knownSet("to cc bcc recipient recipients receiver receivers an addressee addressees");
const BODY = knownSet("body text html content message nachricht");
const SENDS = knownSet("mail email emails sms newsletter courriel message whatsapp send");
const CAN_HOLD_MANY = /[,;\n]/;

/** Reads a call that sends a mail, or anything else to a list of receivers; null for any other call. */
export function mailIn(fn: readonly string[], leaves: readonly ArgumentLeaf[]): Mail | null {
  const receiving = leaves.filter(
    (leaf) => isNamed(leaf, RECEIVERS) && !leaf.words.includes("count") && !isCount(leaf),
  );
  const subject = leaves.find((leaf) => leaf.words.at(-1) === "subject") ?? null;
  const hasBody = leaves.some((leaf) => BODY.has(leaf.words.at(-1) ?? ""));
  const sends = fn.some((word) => SENDS.has(word)) && (hasBody || subject !== null);
  if (receiving.length === 0 || !(sends || (subject !== null && hasBody))) return null;
  const all = receiving.flatMap(addressesIn);
  if (all.length === 0) return null;
  const bodies = leaves.filter((leaf) => BODY.has(leaf.words.at(-1) ?? "") && leaf !== subject);
  return {
    subject,
    bodies,
    receivers: strongestFirst(all),
    leaves: [...receiving, ...(subject ? [subject] : []), ...bodies],
  };
}

function isCount({ value }: ArgumentLeaf): boolean {
  return value.kind === "number" || value.kind === "switch";
}

/** The addresses of a list, or of a text that holds several mail addresses. */
function addressesIn(leaf: ArgumentLeaf): string[] {
  const { value } = leaf;
  if (value.kind === "list") return value.items.flatMap(addressOf);
  const text = textOf(leaf) ?? "";
  if (!CAN_HOLD_MANY.test(text)) return [text];
  const parts = text
    .split(/[,;\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return parts.length > 1 && parts.every((part) => /\S@\S/.test(part)) ? parts : [text];
}

function addressOf(item: unknown): string[] {
  if (typeof item === "string" || typeof item === "number") return [String(item)];
  if (typeof item !== "object" || item === null) return [];
  const { email, address, name } = item as Record<string, unknown>;
  return [email, address, name].filter((one): one is string => typeof one === "string").slice(0, 1);
}
