import { queries, useQuery } from "../../query/query.ts";
import { inbox } from "../../inbox/api.ts";
import { Loading } from "../../parts/notice.tsx";
import { Problem, Section, ServerSays } from "../parts.tsx";
import { Asks, Attempts, Prompt, TaskFacts } from "./page.tsx";
import { TaskReview } from "./review.tsx";
import { text } from "./text.ts";

interface Reviewed {
  ask: string;
  repo: string;
  id: string;
  attempt: number;
}

/** Finished work that somebody is asked to review: what it changes, what it took, what was asked on the way. */
export function InboxReview({ ask, repo, id, attempt }: Reviewed) {
  const path = `/people/me/asks/${encodeURIComponent(ask)}/task`;
  const { data: task, error } = useQuery({
    queryKey: ["ask", ask, "task"],
    queryFn: ({ signal }) => inbox.task(ask, { signal }),
  });
  if (error && !task) return <Problem error={error} />;
  if (!task) return <Loading rows={3} />;
  const { usage } = task.attempts.find(({ n }) => n === attempt) ?? {};
  return (
    <>
      <Prompt words={task.prompt} title={task.title} />
      {task.warnings?.map((warning) => (
        <p key={warning} role="note">
          <ServerSays words={warning} />
        </p>
      ))}
      <TaskReview
        of={{
          repo,
          id,
          attempt,
          diffPath: `${path}/diff`,
          hasBoth: task.dependencies.length > 0,
          async send(review) {
            await inbox.reviewTask(ask, review);
            await queries.invalidateQueries({ queryKey: ["inbox"] });
            await queries.invalidateQueries({ queryKey: ["ask", ask] });
          },
        }}
      />
      <TaskFacts task={task} />
      {usage && (
        <Section title={text.usageTitle}>
          <p>{text.usage(usage)}</p>
        </Section>
      )}
      <Asks path={path} under={["ask", ask, "task"]} />
      <Attempts task={task} />
    </>
  );
}
