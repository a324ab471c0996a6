import type { PermissionDecision, PermissionRequest, QuestionAnswer, AgentQuestion } from "./agents/agent.ts";
import type { SupervisorFact } from "./supervisor/lines.ts";

/** The permissions and questions that the agent waits for. */
export interface PendingDecisions {
  /** Resolves with the decision; as canceled once `withdrawn` is aborted. */
  permission(permissionRequest: PermissionRequest, withdrawn?: AbortSignal, use?: string): Promise<PermissionDecision>;
  question(agentQuestion: AgentQuestion, withdrawn?: AbortSignal): Promise<QuestionAnswer>;
  /** Takes a decision once. A decision on an unknown request, or on a decided one, changes nothing. */
  decide(ref: string, decision: PermissionDecision | QuestionAnswer): void;
  /** Refuses every waiting request, and every later one. */
  close(why: string): void;
}

interface PendingOptions {
  /** Writes a fact down. */
  append(fact: SupervisorFact): void;
  /** The name of what is asked next; no other in the attempt has it. */
  nextRef(): string;
  onCount(count: number): void;
}

const WITHDRAWN = "the agent withdrew it";

/** Returns the place where permissions and questions wait for their answers. */
export function openPendingDecisions({ append, nextRef, onCount }: PendingOptions): PendingDecisions {
  const permissions = new Map<string, (decision: PermissionDecision) => void>();
  const questions = new Map<string, (answer: QuestionAnswer) => void>();
  let closed: string | null = null;
  const count = () => onCount(permissions.size + questions.size);

  /** Takes a request back once `withdrawn` is aborted, unless it is decided by then. */
  function withdrawOn(withdrawn: AbortSignal | undefined, ref: string, refuse: () => void): void {
    const take = () => {
      if (!permissions.delete(ref) && !questions.delete(ref)) return;
      append({ type: "withdrawn", ref });
      refuse();
      count();
    };
    withdrawn?.addEventListener("abort", take, { once: true });
  }

  return {
    permission(permissionRequest, withdrawn, use) {
      const why = withdrawn?.aborted ? WITHDRAWN : closed;
      if (why !== null) return Promise.resolve({ allow: false, why, canceled: true });
      return new Promise((resolve) => {
        const ref = nextRef();
        permissions.set(ref, resolve);
        const known = use !== undefined && { wish: { ...permissionRequest, reportsEnd: true }, use };
        append({ type: "permission", ref, wish: permissionRequest, ...known });
        withdrawOn(withdrawn, ref, () => resolve({ allow: false, why: WITHDRAWN, canceled: true }));
        count();
      });
    },
    question(agentQuestion, withdrawn) {
      const why = withdrawn?.aborted ? WITHDRAWN : closed;
      if (why !== null) return Promise.resolve({ none: true, why });
      return new Promise((resolve) => {
        const ref = nextRef();
        questions.set(ref, resolve);
        append({ type: "question", ref, wish: agentQuestion });
        withdrawOn(withdrawn, ref, () => resolve({ none: true, why: WITHDRAWN }));
        count();
      });
    },
    decide(ref, decision) {
      const permission = "allow" in decision ? permissions.get(ref) : undefined;
      const question = "allow" in decision ? undefined : questions.get(ref);
      if (!permission && !question) return;
      permissions.delete(ref);
      questions.delete(ref);
      // First on disk: a process that resumes this attempt must know that the agent may have acted on it.
      append({ type: "decided", ref, ...("allow" in decision && { allow: decision.allow }) });
      if ("allow" in decision) permission?.(decision);
      else question?.(decision);
      count();
    },
    close(why) {
      closed = why;
      for (const refuse of permissions.values()) refuse({ allow: false, why, canceled: true });
      for (const refuse of questions.values()) refuse({ none: true, why });
      permissions.clear();
      questions.clear();
      count();
    },
  };
}
