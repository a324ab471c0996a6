import type { Tag } from "./question.ts";

/** The totals of a person's ledger; every badge is a threshold on one of these. */
export interface LedgerFacts {
  answers: number;
  points: number;
  byCategory: Readonly<Partial<Record<Tag, number>>>;
  /** The longest streak any answer has stood at. */
  longestStreak: number;
  early: number;
  night: number;
  speedy: number;
  confident: number;
}

export interface Badge {
  id: string;
  name: string;
  need: number;
  have: (facts: LedgerFacts) => number;
}

const answers = (facts: LedgerFacts) => facts.answers;
const streak = (facts: LedgerFacts) => facts.longestStreak;
const category = (tag: Tag) => (facts: LedgerFacts) => facts.byCategory[tag] ?? 0;

/** All badges, in the order in which new ones are shown (spec/ask-a-human 5.2). */
export const BADGES: readonly Badge[] = [
  { id: "first_answer", name: "First Steps", need: 1, have: answers },
  { id: "answers_10", name: "Getting Started", need: 10, have: answers },
  { id: "answers_100", name: "Century", need: 100, have: answers },
  { id: "answers_500", name: "Veteran", need: 500, have: answers },
  { id: "answers_1000", name: "Legend", need: 1000, have: answers },
  { id: "streak_3", name: "On a Roll", need: 3, have: streak },
  { id: "streak_7", name: "Week Warrior", need: 7, have: streak },
  { id: "streak_30", name: "Monthly Maven", need: 30, have: streak },
  { id: "streak_100", name: "Centurion", need: 100, have: streak },
  { id: "expert_technical", name: "Tech Expert", need: 25, have: category("technical") },
  { id: "expert_product", name: "Product Pro", need: 25, have: category("product") },
  { id: "expert_ethics", name: "Ethics Advocate", need: 25, have: category("ethics") },
  { id: "expert_creative", name: "Creative Mind", need: 25, have: category("creative") },
  { id: "expert_general", name: "Generalist", need: 25, have: category("general") },
  { id: "early_bird", name: "Early Bird", need: 1, have: (facts) => facts.early },
  { id: "night_owl", name: "Night Owl", need: 10, have: (facts) => facts.night },
  { id: "speed_demon", name: "Speed Demon", need: 5, have: (facts) => facts.speedy },
  { id: "confident", name: "Confident", need: 10, have: (facts) => facts.confident },
];

const BY_ID = new Map(BADGES.map((badge) => [badge.id, badge]));
const PLACES = new Map(BADGES.map((badge, i) => [badge.id, i]));

/** Orders badges as they are shown: oldest first, and those of one moment as the table has them. */
export function compareEarned(one: { id: string; earnedAt: number }, other: { id: string; earnedAt: number }): number {
  const place = (id: string) => PLACES.get(id) ?? BADGES.length;
  return one.earnedAt - other.earnedAt || place(one.id) - place(other.id);
}

/** Returns a badge's name, or its id when it is no longer given. */
export function badgeName(id: string): string {
  return BY_ID.get(id)?.name ?? id;
}

/** Returns the ids of the badges that the facts earn and that are not held yet, in table order. */
export function newBadges(facts: LedgerFacts, held: ReadonlySet<string>): string[] {
  return BADGES.filter((badge) => !held.has(badge.id) && badge.have(facts) >= badge.need).map(({ id }) => id);
}

/** Returns how far along every badge is that is not held yet. */
export function badgeProgress(
  facts: LedgerFacts,
  held: ReadonlySet<string>,
): { id: string; name: string; have: number; need: number }[] {
  return BADGES.filter((badge) => !held.has(badge.id)).map((badge) => ({
    id: badge.id,
    name: badge.name,
    have: Math.min(badge.have(facts), badge.need),
    need: badge.need,
  }));
}

/** When an answer counts for the badges about time. */
export const EARLY_BIRD_MS = 2 * 60_000;
export const SPEED_DEMON_MS = 30_000;
export const NIGHT_ENDS_HOUR = 6;
