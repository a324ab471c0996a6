import { textProblem, type FieldProblem } from "../../core/model/field-problem.ts";

const LEAST_LENGTH = 2;
const MOST_LENGTH = 24;
const ALLOWED = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} .'_-]*$/u;

/** A name as it is shown, and the form under which names that look alike are one. */
export interface LeaderboardName {
  name: string;
  key: string;
}

/**
 * Reads a name for the leaderboard: 2 to 24 letters, digits, spaces and `.'_-`, of which the first is a letter or a digit
 * (spec/ask-a-human 4.7). Spaces around it are dropped, and several in a row become one.
 */
export function readLeaderboardName(text: string): LeaderboardName | FieldProblem {
  const name = text.normalize("NFC").trim().replaceAll(/\s+/gu, " ");
  const problem = textProblem("name", name, LEAST_LENGTH, MOST_LENGTH);
  if (problem) return problem;
  if (!ALLOWED.test(name)) {
    const message = "name may hold letters, digits, spaces and .'_- and begins with a letter or a digit";
    return { message, field: "name", constraint: "format" };
  }
  return {
    name,
    key: name
      .normalize("NFKC")
      .toLowerCase()
      .replaceAll(/[ .'_-]/gu, ""),
  };
}
