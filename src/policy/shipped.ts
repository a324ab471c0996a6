import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Policy } from "./model/policy.ts";
import { parsePolicy } from "./model/text.ts";

const NAME = "policy.assignment.yaml";

/** Returns what comes with Parley for coding agents, for where the operator's own policy says nothing. */
export function shippedPolicy(): Policy {
  const path = fileURLToPath(new URL("../../policy.assignment.yaml", import.meta.url));
  return parsePolicy(readFileSync(path, "utf8"), NAME);
}
