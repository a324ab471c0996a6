import { AUDIENCES } from "@parley/sdk/wire";
import { Link } from "../router.tsx";
import { serverNow } from "../api.ts";
import { leadOf } from "../parts/code-blocks.ts";
import { More } from "../parts/more.tsx";
import { Loading, Notice } from "../parts/notice.tsx";
import { TimeLeft } from "../parts/time-left.tsx";
import { type ListedQuestion, readOn, useFeed } from "../queries.ts";
import { Trouble } from "../parts/trouble.tsx";
import { audience } from "../settings.ts";
import { text } from "../text.ts";
import styles from "./feed.module.css";

/** The questions that wait for answers, most urgent first. */
export function Feed({ current, onOpen }: { current: string | undefined; onOpen: (() => void) | undefined }) {
  const feed = useFeed();
  const Heading = current === undefined ? "h1" : "h2";
  return (
    <section aria-busy={feed.isPending}>
      <header class={styles.header}>
        {!onOpen && <Heading>{text.feed.title}</Heading>}
        <Topic />
      </header>
      <Rows current={current} onOpen={onOpen} />
    </section>
  );
}

function Rows({ current, onOpen }: { current: string | undefined; onOpen: (() => void) | undefined }) {
  const { data, error, isPending, refetch } = useFeed();
  if (isPending) return <Loading rows={5} />;
  if (!data || (error && data.questions.length === 0)) {
    return <Trouble level={2} title={text.feed.failed} error={error} onTryAgain={() => void refetch()} />;
  }
  const { questions, next_cursor: next } = data;
  if (questions.length === 0 && next === null) return <Empty lastCame={data.last_created_at} />;
  return (
    <>
      <ul>
        {questions.map((question) => (
          <Row
            key={question.question_id}
            question={question}
            isCurrent={question.question_id === current}
            onOpen={onOpen}
          />
        ))}
      </ul>
      <More label={text.more} rows={questions.length} isMore={next !== null} readOn={readOn} />
    </>
  );
}

function Row(props: { question: ListedQuestion; isCurrent: boolean; onOpen: (() => void) | undefined }) {
  const { question, isCurrent, onOpen } = props;
  const inside = (
    <>
      <span class={styles.prompt} dir="auto">
        {leadOf(question.prompt)}
      </span>
      <span class={styles.facts}>
        {question.gone ? (
          <span>{text.feed.gone}</span>
        ) : (
          <>
            <span>{text.feed.needed(question.responses_needed)}</span>
            <TimeLeft until={question.expires_at} />
            <span class={styles.points} aria-hidden="true">
              {text.feed.points(question.points)}
            </span>
            <span class="unseen">{text.feed.pointsLong(question.points)}</span>
          </>
        )}
      </span>
    </>
  );
  return (
    <li class={styles.row} data-gone={question.gone}>
      {question.gone ? (
        <div class={styles.link}>{inside}</div>
      ) : (
        <Link
          href={`/q/${question.question_id}`}
          class={styles.link}
          aria-current={isCurrent ? "true" : undefined}
          replace={onOpen !== undefined}
          onClick={() => onOpen?.()}
          data-row
        >
          {inside}
        </Link>
      )}
    </li>
  );
}

function Topic() {
  const chosen = audience.use();
  return (
    <select
      class={styles.topic}
      aria-label={text.audience.label}
      value={chosen}
      onChange={(event) => audience.set(event.currentTarget.value as typeof chosen)}
    >
      {(["all", ...AUDIENCES] as const).map((one) => (
        <option key={one} value={one}>
          {text.audience[one]}
        </option>
      ))}
    </select>
  );
}

function Empty({ lastCame }: { lastCame: string | null }) {
  const filtered = audience.use() !== "all";
  const hint = lastCame === null ? text.feed.neverCame : text.feed.lastCame(serverNow() - Date.parse(lastCame));
  return (
    <Notice level={2} title={filtered ? text.feed.emptyTopic : text.feed.empty} hint={hint}>
      {filtered ? (
        <button type="button" class="primary" onClick={() => audience.set("all")}>
          {text.feed.allTopics}
        </button>
      ) : (
        <Link href="/me#notifications" class="button primary">
          {text.feed.notify}
        </Link>
      )}
    </Notice>
  );
}
