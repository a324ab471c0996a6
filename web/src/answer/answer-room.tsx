import { useEffect } from "preact/hooks";
import { useLocation } from "../router.tsx";
import { useKeys } from "../keys.ts";
import { followFeed } from "../live.ts";
import { Loading } from "../parts/notice.tsx";
import { readOn, useFeed } from "../queries.ts";
import { queries } from "../query/query.ts";
import { text } from "../text.ts";
import { useTitle } from "../title.ts";
import { wide } from "../wide.ts";
import styles from "./answer-room.module.css";
import { Drawer, List } from "./drawer.tsx";
import { Question } from "./question.tsx";

if (wide.get()) void List.load();

/** The question that needs answers most, or the one at the address; the list is a drawer, or beside it. */
export function AnswerRoom({ id }: { id?: string }) {
  useEffect(followFeed, []);
  const isWide = wide.use();
  const [, go] = useLocation();
  const { data, isFetching, isFetchedAfterMount } = useFeed();
  const open = data?.questions.filter((one) => !one.gone) ?? [];
  const first = open[0]?.question_id;
  const at = open.findIndex((one) => one.question_id === id);
  useTitle(id === undefined ? text.app : text.feed.title);

  // The list as it was last time, or without the answers of this device, may begin with a question that is answered.
  const isRead = (isFetchedAfterMount || !isFetching) && queries.getQueryData(["written"]) !== undefined;
  useEffect(() => {
    if (id === undefined && first !== undefined && isRead) {
      go(`/q/${first}`, { replace: true, state: "opened-by-itself" });
    }
  }, [id, first, isRead]);

  const move = (step: 1 | -1): void => {
    if (id === undefined) return;
    const next = open[at < 0 ? 0 : at + step];
    if (next) go(`/q/${next.question_id}`);
    // Near the last question that was read, the next page is read.
    if (step === 1 && at + 2 >= open.length) void readOn().catch(() => {});
  };
  useKeys({ j: () => move(1), k: () => move(-1) });

  const next = open.find((one) => one.question_id !== id);
  const detail = id !== undefined && <Question key={id} id={id} next={next} />;
  if (isWide && (id !== undefined || first !== undefined)) {
    return (
      <div key="sides" class={styles.sides}>
        <div class={styles.list}>
          <List current={id} />
        </div>
        {detail}
      </div>
    );
  }
  if (id !== undefined) {
    return (
      <>
        {detail}
        <Drawer current={id} />
      </>
    );
  }
  return (
    <div key="alone" class={styles.list}>
      {isRead && first === undefined ? <List /> : <Loading rows={3} />}
    </div>
  );
}
