import type { ComponentChildren } from "preact";
import { Link } from "../../router.tsx";
import { Choice } from "../../parts/choice.tsx";
import { More } from "../../parts/more.tsx";
import { Loading } from "../../parts/notice.tsx";
import styles from "../console.module.css";
import { moment } from "../../moment.ts";
import { Empty, List, type RowOf, Rows } from "../parts.tsx";
import relayStyles from "./relay.module.css";
import { text } from "./text.ts";
import type { AskLine, JobLine } from "./wire.ts";
import { text as consoleText } from "../text.ts";

export const askRow = (one: AskLine): RowOf => ({
  id: encodeURIComponent(one.ask_id),
  title: one.prompt,
  facts: [text.type(one.ask_type), text.askState(one), <bdi>{programOf(one.asked_by)}</bdi>, moment(one.created_at)],
});

export const jobRow = (one: JobLine): RowOf => ({
  id: encodeURIComponent(one.job_id),
  title: one.title,
  facts: [
    ...(one.title.endsWith(one.job_id) ? [] : [<bdi>{one.job_id}</bdi>]),
    text.jobState(one.state),
    <bdi>{one.kind}</bdi>,
    ...(one.pending_asks > 0 ? [text.jobs.pending(one.pending_asks)] : []),
    <bdi>{programOf(one.holder ?? one.owner)}</bdi>,
    moment(one.created_at),
  ],
});

/** The name of a program's key, without the scope before it. */
const programOf = (principal: string): string => principal.slice(principal.indexOf(":") + 1);

export const hrefOf = (of: "asks" | "jobs", id: string): string => `/console/${of}/${encodeURIComponent(id)}`;

/** The way to an ask or a job, by what people call it; its id stands behind. */
export function To({ of, id, name }: { of: "asks" | "jobs"; id: string; name: string }) {
  return (
    <>
      <Link href={hrefOf(of, id)} class={relayStyles.target}>
        <bdi>{name}</bdi>
      </Link>{" "}
      <code class="small muted">{id}</code>
    </>
  );
}

/** A list of which there is more, and what of it is shown; an item of it may stand beside it. */
export function Paged<Which extends string>(props: {
  words: Readonly<Record<Which | "title" | "empty" | "emptyHint", string>>;
  choice: { which: Which; options: readonly Which[]; onChoose: (which: Which) => void };
  /** Undefined while they are fetched. */
  rows: readonly RowOf[] | undefined;
  base: string;
  item: string | undefined;
  hasNextPage: Pages["hasNextPage"];
  fetchNextPage: Pages["fetchNextPage"];
}) {
  const { words, choice, rows, base, item } = props;
  return (
    <List title={words.title} isAlone={item === undefined}>
      <div class={styles.tabs}>
        <Choice
          legend={text.which}
          hideLegend
          value={choice.which}
          onChoose={choice.onChoose}
          options={choice.options.map((value) => ({ value, label: words[value] }))}
        />
      </div>
      {!rows && <Loading rows={4} />}
      {rows?.length === 0 && <Empty title={words.empty} hint={words.emptyHint} />}
      {rows && <Rows base={base} rows={rows} current={item && encodeURIComponent(item)} />}
      <MoreOf pages={props} />
    </List>
  );
}

/** The button below a list that is read page after page. */
export function MoreOf({ pages, label = consoleText.older }: { pages: Pages; label?: string }) {
  return (
    <More
      label={label}
      rows={pages.rows?.length ?? 0}
      isMore={pages.hasNextPage}
      readOn={() => pages.fetchNextPage({ throwOnError: true })}
    />
  );
}

/** A list that is read page after page. */
interface Pages {
  rows: readonly unknown[] | undefined;
  hasNextPage: boolean;
  fetchNextPage: (options: { throwOnError: true }) => Promise<unknown>;
}

/** The output of a program, whole; nothing where it is empty. */
export function Output({ label, value }: { label: string; value: unknown }) {
  if (isNothing(value)) return null;
  return (
    <details class={relayStyles.more}>
      <summary>{label}</summary>
      <Block label={label} words={JSON.stringify(value, null, 2)} />
    </details>
  );
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** Words as they were written: code and data run left to right, other words as their script does with `dir` "auto". */
export function Block({ label, words, dir = "ltr" }: { label: string; words: string; dir?: "ltr" | "auto" }) {
  return (
    <pre class={relayStyles.block} dir={dir} tabIndex={0} role="region" aria-label={label}>
      {words}
    </pre>
  );
}

/** Facts of one entry side by side. */
export function Line({ parts }: { parts: readonly ComponentChildren[] }) {
  return (
    <p class={`small muted ${styles.line}`}>{parts.map((part, at) => part !== null && <span key={at}>{part}</span>)}</p>
  );
}
