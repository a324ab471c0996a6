import { useRef } from "preact/hooks";
import { besideList } from "../../filter.ts";
import { Link } from "../../router.tsx";
import feedStyles from "../../answer/feed.module.css";
import { useChosen, wantedOf } from "../../inbox/chosen.ts";
import { useLiveInbox } from "../../inbox/queries.ts";
import { text as inboxText } from "../../inbox/text.ts";
import toolsStyles from "../../inbox/tools.module.css";
import type { ListedAsk, Wanted } from "../../inbox/wire.ts";
import { moment } from "../../moment.ts";
import { later } from "../../parts/later.tsx";
import { Loading } from "../../parts/notice.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { clock } from "../parts.tsx";
import { usePeople } from "../queries.ts";
import styles from "./overview.module.css";
import { text } from "./text.ts";
import { useFoundWaiting, useWaiting, useWhom, type Waiting } from "./waiting.ts";

const Tools = later(async () => (await import("../../inbox/tools.tsx")).Tools);

/** Lists the requests that wait, with who may answer and for how long: every number is of one reading, whose time is shown. */
export function WaitingList({ me }: { me: string }) {
  useLiveInbox();
  const { data, error, refetch } = useWaiting();
  const people = usePeople();
  if (error && !data) {
    return <Trouble title={text.waiting.failed} error={error} onTryAgain={() => void refetch()} />;
  }
  const isReady = data && (people.data ?? people.error);
  return <div class={styles.waiting}>{isReady ? <Ready all={data} me={me} /> : <Loading rows={3} />}</div>;
}

function Ready({ all, me }: { all: Waiting; me: string }) {
  const wanted = wantedOf(useChosen());
  const isChosen = Object.keys(wanted).length > 0;
  const { at, total, oldestMs } = all;
  const isNarrowed = usePeople().data?.find(({ id }) => id === me)?.written?.inboxScope === "addressed";
  return (
    <>
      <p>
        {total === 0 ? text.waiting.none : text.waiting.total(total, oldestMs)}{" "}
        <span class="muted">{text.waiting.at(clock(at))}</span>
      </p>
      {isNarrowed && <p class="small muted">{text.waiting.narrowed}</p>}
      <div class={toolsStyles.tools}>
        <Tools />
      </div>
      {isChosen ? <Found wanted={wanted} /> : <Requests of={all} />}
      {total > all.first.length && (
        <Link href={besideList("/inbox")} class="button">
          {text.waiting.all(total)}
        </Link>
      )}
    </>
  );
}

/** The requests that were looked for, or in another order. */
function Found({ wanted }: { wanted: Wanted }) {
  const { data, error, refetch } = useFoundWaiting(wanted);
  if (error && !data) {
    return <Trouble level={2} title={text.waiting.failed} error={error} onTryAgain={() => void refetch()} />;
  }
  if (!data) return <Loading rows={3} />;
  return data.first.length === 0 ? (
    <p role="status">{inboxText.emptySearch}</p>
  ) : (
    <Requests key={data.wanted} of={data} />
  );
}

function Requests({ of: { at, first } }: { of: Waiting }) {
  const { data: whom } = useWhom(first);
  const rows = useInPlace(first);
  return (
    <ul>
      {rows.map((ask) => (
        <li key={ask.id} class={feedStyles.row}>
          <Link href={`/inbox/${ask.id}`} class={feedStyles.link}>
            <span class={feedStyles.prompt} dir="auto">
              {ask.sentence}
            </span>
            <span class={feedStyles.facts}>
              {(ask.risk === "high" || ask.risk === "unjudged") && <span>{text.waiting[ask.risk]}</span>}
              <bdi>{ask.agent}</bdi>
              <span class={styles.whom}>{whom?.get(ask.id)}</span>
              <Times of={ask} at={at} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Rows that are on screen keep their place while others come in, which stand below them. */
function useInPlace(asks: readonly ListedAsk[]): readonly ListedAsk[] {
  const shown = useRef<readonly string[]>([]);
  const placeOf = ({ id }: ListedAsk): number => (shown.current.includes(id) ? shown.current.indexOf(id) : Infinity);
  const places = new Map(asks.map((ask, at) => [ask, Math.min(placeOf(ask), shown.current.length + at)]));
  const rows = asks.toSorted((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
  shown.current = rows.map(({ id }) => id);
  return rows;
}

/** When it was asked and by when it is due, as seen at a moment. */
function Times({ of: { created_at: asked, expires_at: until }, at }: { of: ListedAsk; at: number }) {
  return (
    <>
      <time dateTime={asked} title={moment(asked)}>
        {text.waiting.waits(at - Date.parse(asked))}
      </time>
      {until === null ? (
        <span>{text.waiting.noDeadline}</span>
      ) : (
        <time dateTime={until} title={moment(until)}>
          {text.waiting.left(Date.parse(until) - at)}
        </time>
      )}
    </>
  );
}
