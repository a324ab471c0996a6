import { useEffect } from "preact/hooks";
import { useLocation } from "wouter";
import { useKeys } from "../keys.ts";
import { readOn, useFeed } from "../queries.ts";
import { text } from "../text.ts";
import { useTitle } from "../title.ts";
import { wide } from "../wide.ts";
import styles from "./answer-room.module.css";
import { Feed } from "./feed.tsx";
import { Question } from "./question.tsx";
import { Unsent } from "./unsent.tsx";

/** The list of questions, the question, or on a wide screen both side by side. */
export function AnswerRoom({ id }: { id?: string }) {
  const isWide = wide.use();
  const [, go] = useLocation();
  const { data } = useFeed();
  const open = data?.questions.filter((one) => !one.gone) ?? [];
  const first = open[0]?.question_id;
  const at = open.findIndex((one) => one.question_id === id);
  useTitle(id === undefined ? text.app : text.feed.title);

  // Beside the list there is room for a question: the one that needs answers most.
  useEffect(() => {
    if (isWide && id === undefined && first !== undefined) {
      go(`/q/${first}`, { replace: true, state: "opened-by-itself" });
    }
  }, [isWide, id, first]);

  const move = (step: 1 | -1): void => {
    if (id === undefined) return moveFocus(step);
    const next = open[at < 0 ? 0 : at + step];
    if (next) go(`/q/${next.question_id}`);
    // Near the last question that was read, the next page is read.
    if (step === 1 && at + 2 >= open.length) void readOn().catch(() => {});
  };
  useKeys({ j: () => move(1), k: () => move(-1) });

  const next = open.find((one) => one.question_id !== id);
  const detail = id !== undefined && <Question key={id} id={id} next={next} />;
  const nothingToShow = data !== undefined && id === undefined && first === undefined;
  if (!isWide || nothingToShow) {
    if (detail) return detail;
    return (
      <div class={styles.list}>
        <Unsent />
        <Feed />
      </div>
    );
  }
  return (
    <div class={styles.sides}>
      <div class={styles.list}>
        <Unsent />
        <Feed current={id} />
      </div>
      {detail}
    </div>
  );
}

/** Without an open question, j and k walk through the list. */
function moveFocus(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows[at < 0 ? 0 : at + step]?.focus();
}
