import type { AnswerReceipt, FeedItem, HumanQuestion, QuestionResults } from "@parley/sdk/wire";
import { percent } from "../format.ts";
import type { Written } from "../outbox.ts";
import { Icon } from "../parts/icon.tsx";
import { Loading } from "../parts/notice.tsx";
import { useResults } from "../queries.ts";
import { text as answerText } from "./text.ts";
import { Badge } from "./badge.tsx";
import formStyles from "./answer-form.module.css";
import { NextStep } from "./next-step.tsx";
import { Prompt } from "./prompt.tsx";
import styles from "./result.module.css";

/** The points that an answer earned, and the answers of everybody else. */
export function Result(props: {
  id: string;
  question: HumanQuestion | undefined;
  written: Written | undefined;
  next: FeedItem | undefined;
}) {
  const { id, question, written, next } = props;
  const results = useResults(id, true);
  const options = question?.options ?? written?.question.options;
  return (
    <section class={styles.result}>
      <header class={formStyles.header}>
        <Prompt words={question?.prompt ?? written?.question.prompt ?? ""} />
        <Earned receipt={written?.receipt} />
      </header>
      {results.data ? (
        <>
          {options && results.data.summary ? (
            <Bars options={options} votes={results.data.summary} yours={written?.answer.selected_option} />
          ) : (
            <Voices results={results.data} yours={written?.answer.answer} />
          )}
          <p class={styles.progress} aria-live="polite">
            {progressOf(results.data)}
          </p>
        </>
      ) : results.error ? (
        <p class="muted">{answerText.result.failed}</p>
      ) : (
        <Loading rows={2} />
      )}
      <NewBadges ids={written?.receipt?.new_badges ?? []} />
      <NextStep next={next} />
    </section>
  );
}

function Earned({ receipt }: { receipt: AnswerReceipt | undefined }) {
  const points = receipt?.points_earned ?? 0;
  const days = receipt?.streak_days ?? 0;
  return (
    <p class={styles.earned} role="status">
      <Icon name="check" />
      {!receipt ? answerText.result.answered : points > 0 ? answerText.result.points(points) : answerText.result.capped}
      {days > 1 && <span class="muted">{answerText.result.streak(days)}</span>}
    </p>
  );
}

function NewBadges({ ids }: { ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <ul class={styles.badges}>
      {ids.map((id) => (
        <Badge key={id} id={id} share={1} note={answerText.result.newBadge} />
      ))}
    </ul>
  );
}

function progressOf({ status, current_responses: have, required_responses: need }: QuestionResults): string {
  if (status === "CLOSED") return answerText.result.complete(have);
  return status === "EXPIRED" ? answerText.result.expired(have) : answerText.result.soFar(have, need);
}

/** The options again, each filled as far as people chose it. */
function Bars(props: { options: readonly string[]; votes: Record<string, number>; yours: number | undefined }) {
  const all = props.options.reduce((sum, option) => sum + (props.votes[option] ?? 0), 0) || 1;
  return (
    <ul class={styles.bars}>
      {props.options.map((option, index) => {
        const votes = props.votes[option] ?? 0;
        return (
          <li key={index} data-yours={index === props.yours || undefined}>
            <span class={styles.fill} style={{ inlineSize: `${(votes / all) * 100}%` }} />
            <span dir="auto">
              {option}
              {index === props.yours && <em>{answerText.result.yours}</em>}
            </span>
            <span class={styles.votes}>
              {percent(votes / all)} <span class="muted">{answerText.result.votes(votes)}</span>
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function Voices({ results, yours }: { results: QuestionResults; yours: string | undefined }) {
  if (!results.responses) return <p class="muted">{answerText.result.notShared}</p>;
  const answers = results.responses.map((one) => one.answer ?? "");
  const own = yours === undefined ? -1 : answers.indexOf(yours);
  const others = answers.filter((_, index) => index !== own);
  return (
    <ul class={styles.voices} aria-label={answerText.result.others}>
      {yours !== undefined && (
        <li data-yours dir="auto">
          <em>{answerText.result.yours}</em>
          {yours}
        </li>
      )}
      {others.map((words, index) => (
        <li key={index} dir="auto">
          {words}
        </li>
      ))}
      {others.length === 0 && <li class={styles.first}>{answerText.result.firstVoice}</li>}
    </ul>
  );
}
