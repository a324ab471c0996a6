import type { AssignmentReport, Task } from "@parley/sdk/tasks";
import { useState } from "preact/hooks";
import { Link, nameAt, useLocation } from "../../router.tsx";
import { number } from "../../format.ts";
import { useKeys } from "../../keys.ts";
import { Loading } from "../../parts/notice.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { useTitle } from "../../title.ts";
import { wide } from "../../wide.ts";
import styles from "../console.module.css";
import type { PageProps } from "../page-props.ts";
import { Empty, Gone } from "../parts.tsx";
import { taskHref, useBoard, useLiveTasks } from "./api.ts";
import { columnOf, type ColumnName } from "./columns.ts";
import { NewTaskPage } from "./new.tsx";
import { TaskPage } from "./page.tsx";
import { After, SandboxNotice } from "./parts.tsx";
import { text } from "./text.ts";
import taskStyles from "./tasks.module.css";

const BASE = "/console/assignments";
/** No repository has this name. */
const NEW = "_new";

/** Side by side as work goes; one below the other with what wants somebody first. */
const SIDE_BY_SIDE: readonly ColumnName[] = ["queued", "working", "waiting", "review", "done"];
const STACKED: readonly ColumnName[] = ["waiting", "review", "working", "queued", "done"];
/** The number of tasks of each column that are shown at first, and more of them each time more is wanted. */
const SHOWN = 30;

/** The tasks of agents: all of them, those of one repository, one task, or a new one. */
export function AssignmentsPage({ item }: PageProps) {
  const [location] = useLocation();
  const [, , , , task] = location.split("/");
  useLiveTasks();
  if (item === undefined) return <BoardPage repo={undefined} />;
  if (item === NEW) return <NewTaskPage />;
  if (task === undefined || task === "") return <BoardPage repo={item} />;
  return <TaskPage key={`${item}/${task}`} repo={item} id={nameAt(task)} />;
}

function BoardPage({ repo }: { repo: string | undefined }) {
  const { data, error, refetch } = useBoard();
  const [, go] = useLocation();
  const isWide = wide.use();
  useTitle(text.title);
  useKeys({ j: () => moveFocus(1), k: () => moveFocus(-1), n: () => go(`${BASE}/${NEW}`) });
  if (error && !data) return <Trouble title={text.failed} error={error} onTryAgain={() => void refetch()} />;
  if (!data) return <Loading rows={4} />;
  if (repo !== undefined && !data.repos.some(({ name }) => name === repo)) return <Gone to={BASE} />;
  const tasks = repo === undefined ? data.tasks : data.tasks.filter((one) => one.repo === repo);
  return (
    <section class={taskStyles.page}>
      <header class={styles.header}>
        <h1>{text.title}</h1>
        {data.repos.length > 0 && (
          <div class={styles.actions}>
            {data.repos.length > 1 && <ChooseRepo board={data} repo={repo} />}
            <Link href={`${BASE}/${NEW}`} class="button primary" aria-keyshortcuts="n">
              {text.new}
            </Link>
          </div>
        )}
      </header>
      <SandboxNotice says={data.sandboxNotice} />
      {data.repos.length === 0 && <Empty title={text.off} hint={text.offHint} />}
      {data.repos.length > 0 && tasks.length === 0 && <Empty title={text.empty} hint={text.emptyHint} />}
      {tasks.length > 0 && (
        <div class={taskStyles.board}>
          {(isWide ? SIDE_BY_SIDE : STACKED).map((name) => (
            <Column
              key={name}
              name={name}
              tasks={columnOf(name, tasks)}
              all={data.tasks}
              withRepo={repo === undefined && data.repos.length > 1}
            />
          ))}
        </div>
      )}
    </section>
  );
}

function ChooseRepo({ board, repo }: { board: AssignmentReport; repo: string | undefined }) {
  const [, go] = useLocation();
  return (
    <select
      aria-label={text.repo}
      value={repo ?? ""}
      onChange={({ currentTarget: { value } }) => go(value === "" ? BASE : `${BASE}/${value}`)}
    >
      <option value="">{text.allRepos}</option>
      {board.repos.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Column(props: { name: ColumnName; tasks: readonly Task[]; all: readonly Task[]; withRepo: boolean }) {
  const { name, tasks } = props;
  const [most, setMost] = useState(SHOWN);
  // Waiting tasks are listed from the oldest on, done ones from the newest.
  const ordered = name === "done" ? tasks.toReversed() : tasks;
  const shown = ordered.slice(0, most);
  const heading = `column-${name}`;
  return (
    <section class={taskStyles.column} data-column={name} data-empty={tasks.length === 0 || undefined}>
      <h2 id={heading}>
        {text.columns[name]} <span class="muted">{number(tasks.length)}</span>
      </h2>
      {tasks.length === 0 && <p class="small muted">{text.nothing}</p>}
      <ul aria-labelledby={heading} class={taskStyles.cards}>
        {shown.map((task) => (
          <Card key={`${task.repo}/${task.id}`} task={task} all={props.all} withRepo={props.withRepo} />
        ))}
      </ul>
      {tasks.length > shown.length && (
        <button type="button" class="quiet" onClick={() => setMost(most + SHOWN)}>
          {text.more(Math.min(SHOWN, tasks.length - shown.length))}
        </button>
      )}
    </section>
  );
}

function Card({ task, all, withRepo }: { task: Task; all: readonly Task[]; withRepo: boolean }) {
  const why = text.why(task);
  return (
    <li class={taskStyles.card} data-state={task.state}>
      <Link href={taskHref(task.repo, task.id)} class={taskStyles.open} data-row>
        <span class={taskStyles.name} dir="auto">
          {task.title}
        </span>
        <span class={taskStyles.facts}>
          <span class={taskStyles.state}>{text.state(task.state)}</span>
          <span dir="auto">{withRepo ? `${task.repo} / ${task.id}` : task.id}</span>
          {task.agent !== undefined && <span dir="auto">{task.agent}</span>}
          {task.diffstat && <span>{text.diffstat(task.diffstat)}</span>}
          {task.changed === false && <span>{text.unchanged}</span>}
        </span>
        {why !== undefined && (
          <span class={taskStyles.why} dir="auto">
            {why}
          </span>
        )}
        {task.stale && <span class={taskStyles.why}>{text.stale}</span>}
      </Link>
      <After task={task} all={all} />
    </li>
  );
}

/** The keyboard goes from card to card, whatever column they are in. */
function moveFocus(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]?.focus();
}
