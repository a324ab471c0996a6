import type { Request } from "./request.ts";
import { judgedRequest, type Risk, type RiskReason } from "./risk.ts";
import type { ToldRisk } from "./view.ts";

export const RISK_WORDS: Readonly<Record<Risk, string>> = {
  low: "Low risk",
  normal: "Normal risk",
  high: "High risk",
  unjudged: "Not judged",
};

/** In a message; the page has five of them. */
const MOST_TOLD = 3;
const LONGEST_TOLD = 240;

/** Returns the risk of an open call for a message; null where it is as usual and no rule of the policy set it. */
export function toldRisk(request: Request): ToldRisk | null {
  if (request.state !== "open") return null;
  const { risk, reasons } = judgedRequest(request);
  if (reasons.length === 0) return null;
  const told = reasons
    .slice(0, MOST_TOLD)
    .map(({ kind, says }) => (says === "" ? sentenceOfReason({ kind, says }) : says));
  const because = [...told, ...(reasons.length > MOST_TOLD ? ["…"] : [])].join("; ");
  return {
    word: RISK_WORDS[risk],
    because: because.length > LONGEST_TOLD ? `${because.slice(0, LONGEST_TOLD - 1)}…` : because,
  };
}

/** Returns one reason as a sentence. */
export function sentenceOfReason({ kind, says }: RiskReason): string {
  return SENTENCES[kind].replace("{}", () => says);
}

const SENTENCES: Readonly<Record<RiskReason["kind"], string>> = {
  rule: "By the policy: {}",
  joint: "Several people must agree to it.",
  unseen: "Its name holds characters that nobody can see.",
  long: "Its arguments are too long to look through.",
  secret: "An argument holds a secret.",
  loses: "Something is lost: {}",
  forces: "Forced, or without a safeguard: {}",
  money: "Much money: {}",
  people: "To many people: {}",
  opens: "Gives rights: {}",
  place: "Where it matters: {}",
  file: "A guarded file: {}",
  data: "Personal data leaves: {}",
  unread: "Nobody can tell beforehand: {}",
};
