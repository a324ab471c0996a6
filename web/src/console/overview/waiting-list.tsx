import type { ComponentChildren } from "preact";
import { Link } from "../../router.tsx";
import feedStyles from "../../answer/feed.module.css";
import { useLiveInbox } from "../../inbox/queries.ts";
import type { ListedAsk } from "../../inbox/wire.ts";
import { Loading } from "../../parts/notice.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { clock } from "../parts.tsx";
import { usePeople } from "../queries.ts";
import styles from "./overview.module.css";
import { text } from "./text.ts";
import { useWaiting, useWhom } from "./waiting.ts";

/** Lists the requests that wait, with who may answer and for how long: every number is of one reading, whose time is shown. */
export function WaitingList({ me }: { me: string }) {
  useLiveInbox();
  const { data, error, refetch } = useWaiting();
  const { data: whom } = useWhom(data?.first ?? []);
  const people = usePeople().data;
  if (error && !data) {
    return <Trouble title={text.waiting.failed} error={error} onTryAgain={() => void refetch()} />;
  }
  if (!data) return <Loading rows={3} />;
  const { at, total, oldestMs, first } = data;
  const isNarrowed = people?.find(({ id }) => id === me)?.written?.inboxScope === "addressed";
  return (
    <div class={styles.waiting}>
      <p>
        {total === 0 ? text.waiting.none : text.waiting.total(total, oldestMs)}{" "}
        <span class="muted">{text.waiting.at(clock(at))}</span>
      </p>
      {isNarrowed && <p class="small muted">{text.waiting.narrowed}</p>}
      <ul>
        {first.map((ask) => (
          <li key={ask.id} class={feedStyles.row}>
            <Link href={`/inbox/${ask.id}`} class={feedStyles.link}>
              <span class={feedStyles.prompt} dir="auto">
                {ask.sentence}
              </span>
              <span class={feedStyles.facts}>
                {factsOf(ask, at, whom?.get(ask.id)).map((fact, i) => (
                  <span key={i}>{fact}</span>
                ))}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {total > first.length && (
        <Link href="/inbox" class="button">
          {text.waiting.all(total)}
        </Link>
      )}
    </div>
  );
}

function factsOf(ask: ListedAsk, at: number, whom: string | undefined): ComponentChildren[] {
  const left = ask.expires_at === null ? text.waiting.noDeadline : text.waiting.left(Date.parse(ask.expires_at) - at);
  return [
    ...(ask.risk === "high" || ask.risk === "unjudged" ? [text.waiting[ask.risk]] : []),
    <bdi>{ask.agent}</bdi>,
    ...(whom === undefined ? [] : [whom]),
    text.waiting.waits(at - Date.parse(ask.created_at)),
    left,
  ];
}
