import type { Approvers } from "../../connect/decided-by.ts";
import { type Takes, WrongUsage } from "../arguments.ts";

export const BY_FLAG = {
  "--by ID": {
    help: "the people of whom one must have approved, by number: 3, or 3,7; enrolled for anybody who is enrolled",
    read: readBy,
  },
} as const satisfies Takes;

/** Returns what `--by` says. @throws {WrongUsage} */
function readBy(text: string): Approvers {
  if (text === "enrolled") return text;
  if (!/^[1-9]\d{0,14}(,[1-9]\d{0,14})*$/.test(text))
    throw new WrongUsage("--by takes numbers of people such as 3,7, or enrolled; parley people list shows them");
  return text.split(",");
}
