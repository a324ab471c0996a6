import type { Sandbox } from "../model/assignment.ts";
import type { Given } from "../workshop/commission.ts";
import type { Desk } from "../workshop/desk.ts";

/** What runs attempts, as whoever starts them knows it. */
export interface Workshop {
  /** How an agent is isolated here; or why it may not start. Nothing is ready before `opened` has resolved. */
  readiness(agent: string): { sandbox: Sandbox } | { why: string };
  /** Resolves once it is known what this machine offers. */
  opened: Promise<void>;
  /** Takes an attempt to its end, or to where its desk is left. */
  run(given: Given, desk: Desk): Promise<void>;
  /** Does in git what a review leaves to be done, and returns what a person should know of it. */
  settleReview(work: {
    repo: string;
    slug: string;
    n: number;
    commit: string;
    is: "approve" | "reject";
  }): Promise<{ message: string; command?: string }>;
  /** The tree and the agent's home of a submission are gone; its log stays. */
  clear(of: { repo: string; slug: string; generation: number }): Promise<void>;
}
