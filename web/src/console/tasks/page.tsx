import type { TaskAsk, WholeTask } from "@parley/sdk/tasks";
import { useState } from "preact/hooks";
import { Link } from "../../router.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Loading } from "../../parts/notice.tsx";
import styles from "../console.module.css";
import { moment } from "../../moment.ts";
import { Detail, Facts, focusDetail, Moment, Problem, Section, ServerSays, Unread, useAction } from "../parts.tsx";
import { usePages } from "../relay/api.ts";
import { Line, MoreOf } from "../relay/parts.tsx";
import { text as relayText } from "../relay/text.ts";
import relayStyles from "../relay/relay.module.css";
import { cancelTask, refreshTasks, retryTask, reviewTask, taskPath, useBoard, useTask } from "./api.ts";
import { TaskChanges } from "./changes.tsx";
import { TaskLog } from "./log.tsx";
import { TaskNotes } from "./notes.tsx";
import { TaskReview } from "./review.tsx";
import { After, SandboxNotice } from "./parts.tsx";
import { text } from "./text.ts";
import taskStyles from "./tasks.module.css";
import { text as consoleText } from "../text.ts";
import { text as appText } from "../../text.ts";

const BASE = "/console/assignments";
const LONG_PROMPT = 600;
const FAILED: readonly WholeTask["state"][] = ["rejected", "failed", "canceled"];
const SETTLED: readonly WholeTask["state"][] = [...FAILED, "review", "approved"];

export function TaskPage({ repo, id }: { repo: string; id: string }) {
  const { data, error, refetch } = useTask(repo, id);
  if (error && !data) {
    return <Unread error={error} title={text.page.failed} to={BASE} onTryAgain={() => void refetch()} />;
  }
  if (!data) return <Loading rows={4} />;
  return <OneTask task={data} />;
}

function OneTask({ task }: { task: WholeTask }) {
  const { data: board } = useBoard();
  const { repo, id, state } = task;
  const why = text.why(task);
  const inbox = task.question?.url ?? (state === "conflict" ? task.reviewUrl : undefined);
  const hasBoth = task.dependencies.length > 0;
  const diffPath = `${taskPath(repo, id)}/diff`;
  return (
    <div class={taskStyles.task}>
      <Detail title={task.title} isGiven>
        <div class={taskStyles.stand} data-state={state}>
          <p role="status">{text.state(state)}</p>
          {why !== undefined && <p dir="auto">{why}</p>}
          {task.stale && <p>{text.stale}</p>}
          {inbox !== undefined && (
            <Link href={new URL(inbox, location.origin).pathname} class="button primary">
              {text.page.answerInInbox}
            </Link>
          )}
        </div>
        {task.sandbox !== "bubblewrap" && <SandboxNotice says={board?.sandboxNotice} />}
        {task.warnings?.map((warning) => (
          <p key={warning} class={taskStyles.notice} role="note">
            <ServerSays words={warning} />
          </p>
        ))}
        <After task={task} all={board?.tasks ?? []} />
        <Prompt words={task.prompt} title={task.title} />
        {state === "review" && (
          <TaskReview
            key={task.attempt}
            of={{
              repo,
              id,
              attempt: task.attempt,
              diffPath,
              hasBoth,
              async send(review) {
                await reviewTask(repo, id, review);
                await refreshTasks();
                focusDetail();
              },
            }}
          />
        )}
        {task.commit !== undefined && state !== "review" && (
          <Section title={text.diff.title}>
            <TaskChanges path={diffPath} attempt={task.attempt} hasBoth={hasBoth} />
          </Section>
        )}
        <TaskNotes task={task} isOver={SETTLED.includes(state)} />
        <TaskLog repo={repo} id={id} />
        <Asks path={taskPath(repo, id)} under={["console", "task", repo, id]} />
        <Attempts task={task} />
        <TaskFacts task={task} />
        <Steps task={task} />
      </Detail>
    </div>
  );
}

/** Shows the prompt, unless the title already says all of it. A long prompt opens on its own. */
export function Prompt({ words, title }: { words: string; title: string }) {
  if (words.trim() === title) return null;
  const whole = (
    <p dir="auto" class={`${relayStyles.block} ${relayStyles.wrapped}`}>
      {words}
    </p>
  );
  if (words.length <= LONG_PROMPT) return whole;
  return (
    <details class={relayStyles.more}>
      <summary>{text.page.prompt}</summary>
      {whole}
    </details>
  );
}

export function TaskFacts({ task }: { task: WholeTask }) {
  const { commit, branch, ref, diffstat, sandbox, agent, base } = task;
  return (
    <Facts
      facts={[
        [text.repo, <bdi>{task.repo}</bdi>],
        [text.form.id, <bdi>{task.id}</bdi>],
        ...(agent === undefined ? [] : [[text.page.agent, <bdi>{agent}</bdi>] as const]),
        ...(sandbox === undefined ? [] : [[text.page.sandbox, text.page.sandboxes[sandbox] ?? sandbox] as const]),
        [text.page.submitted, <Moment time={task.submittedAt} />],
        ...(base ? [[text.page.base, <code>{base}</code>] as const] : []),
        ...(commit === undefined ? [] : [[text.page.commit, <code>{commit}</code>] as const]),
        ...(branch === undefined ? [] : [[text.page.branch, <code>{branch}</code>] as const]),
        ...(branch === undefined && ref !== undefined ? [[text.page.ref, <code>{ref}</code>] as const] : []),
        ...(diffstat === undefined
          ? []
          : [[text.page.change, task.changed === false ? text.unchanged : text.diffstat(diffstat)] as const]),
      ]}
    />
  );
}

/**
 * The questions that people were asked about a task, and their answers. `path` is the task's path of the API; `under`
 * is the key of its queries.
 */
export function Asks({ path, under }: { path: string; under: readonly string[] }) {
  const pages = usePages<TaskAsk>([...under, "asks"], `${path}/asks`, "asks");
  const asks = pages.rows ?? [];
  // Each of them leads to the timeline of the whole task.
  const card = asks.find(({ url }) => url)?.url;
  return (
    <Section title={text.page.asks}>
      {pages.error && !pages.rows && <Problem error={pages.error} />}
      {pages.rows?.length === 0 && <p class="muted">{text.page.noAsks}</p>}
      <ol class={styles.entries}>
        {asks.map((one) => (
          <li key={one.askId}>
            <div>
              <p dir="auto">
                {one.url ? <Link href={new URL(one.url, location.origin).pathname}>{one.summary}</Link> : one.summary}
              </p>
              {one.answer && <p dir="auto">{one.answer}</p>}
              <Line parts={[relayText.status(one.state), one.by ? <bdi>{one.by}</bdi> : null]} />
            </div>
          </li>
        ))}
      </ol>
      <MoreOf pages={pages} label={appText.more} />
      {card !== undefined && (
        <Link
          href={new URL(card, location.origin).pathname.replace("/inbox/", "/inbox/run-")}
          class={relayStyles.target}
        >
          {text.page.wholeTask}
        </Link>
      )}
    </Section>
  );
}

/** The result of each attempt, and the reviews of it. */
export function Attempts({ task }: { task: Pick<WholeTask, "attempts" | "reviews"> }) {
  return (
    <Section title={text.page.attempts}>
      {task.attempts.length === 0 && <p class="muted">{text.page.noAttempts}</p>}
      <ol class={styles.entries}>
        {task.attempts.map((one) => (
          <li key={one.n}>
            <div>
              <p>
                {text.attempt(one.n)}: {text.page.ended(one.outcome ?? one.state)}
              </p>
              <Line
                parts={[
                  <bdi>{[one.agent, one.agentVersion].filter(Boolean).join(" ")}</bdi>,
                  moment(one.startedAt),
                  one.usage ? text.usage(one.usage) : null,
                ]}
              />
              {task.reviews
                .filter(({ attempt }) => attempt === one.n)
                .map((review, at) => (
                  <div key={at}>
                    <p>{text.page.reviewed(review.by, review.verdict)}</p>
                    {review.comment && (
                      <p class={taskStyles.words} dir="auto">
                        {review.comment}
                      </p>
                    )}
                    <ul>
                      {review.comments?.map((comment, index) => (
                        <li key={index}>
                          <p class="small muted">{text.page.onLine(comment.path, comment.line)}</p>
                          <p class={taskStyles.words} dir="auto">
                            {comment.text}
                          </p>
                        </li>
                      ))}
                    </ul>
                  </div>
                ))}
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Steps({ task }: { task: WholeTask }) {
  const { repo, id } = task;
  const cancel = async (): Promise<void> => void (await cancelTask(repo, id));
  const again = async (): Promise<void> => void (await retryTask(repo, id));
  return (
    <div class={styles.actions}>
      {!SETTLED.includes(task.state) && (
        <Step label={text.page.cancel} title={text.page.cancelTitle} hint={text.page.cancelHint} work={cancel} />
      )}
      {FAILED.includes(task.state) && (
        <Step label={text.page.retry} title={text.page.retryTitle} hint={text.page.retryHint} work={again} />
      )}
      <Link href={BASE} class="button quiet">
        {text.page.back}
      </Link>
    </div>
  );
}

/** Something that is done to the task once it was confirmed. */
function Step(props: { label: string; title: string; hint: string; work: () => Promise<void> }) {
  const [isOpen, setOpen] = useState(false);
  const action = useAction(async () => {
    await props.work();
    await refreshTasks();
    setOpen(false);
    focusDetail();
  });
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {props.label}
      </button>
      <Dialog title={props.title} open={isOpen} onClose={() => setOpen(false)}>
        <p>{props.hint}</p>
        <Problem error={action.error} />
        <div class={styles.actions}>
          <button type="button" class="alarm" aria-disabled={action.isBusy} onClick={() => void action.run()}>
            {props.label}
          </button>
          <button type="button" class="quiet" onClick={() => setOpen(false)}>
            {consoleText.cancel}
          </button>
        </div>
      </Dialog>
    </>
  );
}
