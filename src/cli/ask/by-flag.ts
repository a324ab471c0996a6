import type { Approvers } from "../../connect/decided-by.ts";
import { WrongUsage } from "../command.ts";

export const BY_FLAG = {
  "--by ID": "the people of whom one must have approved, by number: 3, or 3,7; enrolled for anybody who is enrolled",
} as const;

/** Returns what `--by` says. @throws {WrongUsage} */
export function readBy(text: string | undefined): Approvers | undefined {
  if (text === undefined || text === "enrolled") return text;
  if (!/^[1-9]\d{0,14}(,[1-9]\d{0,14})*$/.test(text))
    throw new WrongUsage("--by takes numbers of people such as 3,7, or enrolled; parley people list shows them");
  return text.split(",");
}
