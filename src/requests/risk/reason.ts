/** The kinds of facts by which a call is risky, or by which it cannot be judged. */
export type FactKind = "loses" | "forces" | "money" | "people" | "opens" | "place" | "file" | "data" | "unread";

/** A fact about a call, quoted from it. `unread` says what could not be judged; every other kind makes the risk high. */
export interface RiskFact {
  kind: FactKind;
  says: string;
}

/** The facts of one part of a call, and whether that part only reads. */
export interface Judgement {
  facts: readonly RiskFact[];
  onlyReads: boolean;
}

export function unread(says: string): Judgement {
  return { facts: [{ kind: "unread", says }], onlyReads: false };
}

/** Production, as a whole word of a name: `prod-eu`, `.env.production`, and no `preprod`. */
export function isProduction(text: string): boolean {
  return /(?<![a-z\d])(?<!(?:non|pre|not)[-_]?)prod(?:uction)?(?![a-z])/i.test(text);
}
