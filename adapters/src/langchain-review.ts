import { type Approver, type GateOptions, verdictOn } from "./approvals.ts";

/** The interrupt of LangChain's `humanInTheLoopMiddleware`: calls that wait, and the decisions allowed for each. */
export interface Review {
  actionRequests: { name: string; args: Record<string, unknown> }[];
  reviewConfigs: { actionName: string; allowedDecisions: string[]; argsSchema?: object }[];
}

/** The value that resumes the run: a decision on each call, in their order. */
export interface ReviewAnswer {
  decisions: (
    | { type: "approve" }
    | { type: "edit"; editedAction: { name: string; args: object } }
    | { type: "reject"; message: string }
  )[];
}

export function isReview(value: unknown): value is Review {
  return (
    typeof value === "object" &&
    value !== null &&
    "actionRequests" in value &&
    "reviewConfigs" in value &&
    Array.isArray(value.actionRequests) &&
    Array.isArray(value.reviewConfigs)
  );
}

/** Resolves with what people decided on every call, all asked at once; they may edit arguments where the review says so. */
export async function decisionsOn(
  parley: Approver,
  { actionRequests, reviewConfigs }: Review,
  { asked, ...options }: GateOptions & { asked: readonly string[] },
): Promise<ReviewAnswer> {
  const decisions = actionRequests.map(async ({ name, args }, i): Promise<ReviewAnswer["decisions"][number]> => {
    const config = reviewConfigs.find(({ actionName }) => actionName === name);
    const verdict = await verdictOn(
      parley,
      { fn: name, args },
      {
        ...options,
        asked: [...asked, String(i)],
        isEditable: config?.allowedDecisions.includes("edit") === true,
        ...(config?.argsSchema && { argsSchema: config.argsSchema }),
      },
    );
    if (!verdict.isApproved) return { type: "reject", message: verdict.why };
    return verdict.isEdited ? { type: "edit", editedAction: { name, args: verdict.args } } : { type: "approve" };
  });
  return { decisions: await Promise.all(decisions) };
}
