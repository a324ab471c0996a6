import type { RepoRules } from "../../tasks/model/rules.ts";
import { Refusal } from "../../refusals.ts";
import { readOldRefs, REFS_KEPT_MS } from "../../tasks/read-work-fates.ts";
import { listSettledOf, noteSettled } from "../../tasks/settle-review.ts";
import { withoutSecrets } from "../../core/without-secrets.ts";
import type { Door, DoorContext } from "../http/door.ts";
import { SettledWorkBody, WireReviewedWork } from "../../wire/tasks/work.ts";
import { bodyOf, routeOptions } from "./request.ts";
import { workerOf } from "./worker-routes.ts";

interface OfRepo {
  Params: { repo: string };
}

/**
 * Mounts the routes for work that reviews leave to be done in a remote worker's repository. The worker asks for that
 * work, does it and reports the result (spec/assignment 12 and 13).
 */
export function reviewedRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get<OfRepo>(
    "/assignment/:repo/reviewed",
    routeOptions("What reviews leave a worker to do in its repository", { reply: WireReviewedWork, keysOnly: true }),
    async (http, reply) => {
      const { principal } = await workerOf(door, http);
      const { name: repo, onApprove } = rulesOf(http.params.repo);
      const reviewed = await listSettledOf(ctx, { repo, holder: principal });
      const { rejected } = await readOldRefs(ctx, repo, REFS_KEPT_MS);
      const named = reviewed.map((work) => ({ ...work, is: work.kind }));
      const left: WireReviewedWork = { onApprove, reviewed: named, rejected };
      return reply.send(left);
    },
  );

  app.post<OfRepo>(
    "/assignment/:repo/reviewed",
    routeOptions("What a worker did after a review", {
      body: SettledWorkBody,
      keysOnly: true,
      replies: { 204: "Noted" },
    }),
    async (http, reply) => {
      const { principal } = await workerOf(door, http);
      const { name: repo } = rulesOf(http.params.repo);
      const read = SettledWorkBody.safeParse(bodyOf(http));
      if (!read.success) {
        const [problem] = read.error.issues;
        throw new Refusal("invalid_input", { field: problem?.path.join(".") ?? "id", constraint: "format" });
      }
      const { id, n, commit, ...conflict } = read.data;
      const theirs = await listSettledOf(ctx, { repo, holder: principal });
      const work = theirs.find((one) => one.id === id && one.n === n && one.commit === commit);
      // A repeat, or a report on a task that was submitted anew, changes nothing.
      if (work) await noteSettled(ctx, work, await withoutSecrets(ctx, conflict));
      return reply.code(204).send();
    },
  );

  function rulesOf(repo: string): RepoRules {
    const rules = ctx.assignment.repos.find(({ name }) => name === repo);
    if (!rules || rules.path !== null) throw new Refusal("repo_not_found", { repo });
    return rules;
  }
}
