import type { Sandbox } from "../../core/model/sandbox.ts";
import type { OldRefs } from "../model/keep-work.ts";
import type { Submission } from "../read-work-fates.ts";
import type { AttemptSpec } from "../../workshop/commission.ts";
import type { Desk } from "../../workshop/desk.ts";

/** What runs attempts, as whoever starts them knows it. */
export interface Workshop {
  /** How an agent is isolated here; or why it may not start. Nothing is ready before `opened` has resolved. */
  readiness(agent: string): { sandbox: Sandbox } | { why: string };
  /** Resolves once it is known what this machine offers. */
  opened: Promise<void>;
  /** Takes an attempt to its end, or to where its desk is left. */
  run(given: AttemptSpec, desk: Desk): Promise<void>;
  /** Does in git what a review leaves to be done, and returns what a person should know of it. */
  settleReview(work: {
    repo: string;
    slug: string;
    n: number;
    commit: string;
    is: "approve" | "reject";
  }): Promise<{ message: string; command?: string }>;
  /** Agents that run here of attempts that may have ended meanwhile, with the folder of each. */
  findSupervised(): Promise<{ attemptId: string; folder: string }[]>;
  /** Nothing runs of an attempt on this machine any more but what is returned; not even its supervisor, by its folder. */
  kill(attemptId: string, folder?: string): Promise<readonly number[]>;
  /** Submissions of which there is a folder here. */
  listFolders(): Promise<Submission[]>;
  /** The tree and the agent's home of a submission are gone; its log stays. */
  clear(of: Submission): Promise<void>;
  /** Its folder is gone, with all that is in it. */
  remove(of: Submission): Promise<void>;
  /** Old names are gone from a repository, and its store is packed where it has many files, unless that is stopped. */
  tidyRepository(repo: string, old: OldRefs, signal: AbortSignal): Promise<void>;
}
