import { agentName, policyInput, type PolicyInput } from "../../policy/model/policy.ts";
import type { Request, RequestForm } from "./request.ts";

/** Returns what the policy is asked about a function call: which function, by which agent, with which arguments. */
export function policyInputOfCall({ asker, digest, form, wire }: PolicyCall): PolicyInput {
  const { run_id: run } = wire;
  return policyInput({
    fn: form.fn,
    agent: agentName(asker),
    digest: digest ?? undefined,
    args: () => form.kwargs,
    ...(typeof run === "string" && { run }),
  });
}

/** A function call as far as policy looks at it. */
export type PolicyCall = Pick<Request, "asker" | "digest" | "wire"> & { form: RequestForm & { kind: "approval" } };
