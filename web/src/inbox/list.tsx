import { useLayoutEffect, useRef } from "preact/hooks";
import { besideList } from "../filter.ts";
import { Link } from "../router.tsx";
import feedStyles from "../answer/feed.module.css";
import { ago } from "../format.ts";
import { serverNow } from "../api.ts";
import { moment } from "../moment.ts";
import { Icon } from "../parts/icon.tsx";
import { CallEnd } from "./call-end.tsx";
import { Choice } from "../parts/choice.tsx";
import { Loading, Notice } from "../parts/notice.tsx";
import { More } from "../parts/more.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { later } from "../parts/later.tsx";
import { DUE, KINDS, left, useChosen, wantedOf } from "./chosen.ts";
import styles from "./inbox.module.css";
import toolsStyles from "./tools.module.css";
import { Asked, Deadline, handedBy } from "./parts.tsx";
import { entriesOf, type Entry, isAt, sentenceOf } from "./entries.ts";
import { useInbox } from "./queries.ts";
import { SEARCH, toFocus } from "./search-field.ts";
import { useSeen } from "./seen.ts";
import { text as appText } from "../text.ts";
import { text } from "./text.ts";
import type { Counts, Due, ListedAsk } from "./wire.ts";

/** They stand below the list, which does not wait for them. */
const Talks = later(async () => (await import("./talk/talks.tsx")).Talks);

/** Its place is kept until it is there. */
const Tools = later(async () => (await import("./tools.tsx")).Tools);
const AwayNow = later(async () => (await import("./away.tsx")).AwayNow);
const FreezesNow = later(async () => (await import("./freezes.tsx")).FreezesNow);
const ListCommands = later(async () => (await import("./list-commands.ts")).ListCommands);

/** As the server counts. */
const SOON_MS = 3_600_000;
const TODAY_MS = 86_400_000;

/** The list that is shown, as somebody has it in front of them; `arrived` is what has come in since. */
export function useShown() {
  const { tab, ...chosen } = useChosen();
  const { filter, order, words } = chosen;
  const list = useInbox(tab, wantedOf(chosen));
  const seen = useSeen(`${tab} ${filter} ${order} ${words}`, list);
  // Who searches looks for one of them.
  const isOneByOne = tab === "over" || words !== "";
  return { tab, order, ...list, ...seen, entries: entriesOf(seen.rows ?? [], isOneByOne) };
}

export function List({ current }: { current: string | undefined }) {
  const { tab: chosen, choose } = useChosen();
  const waiting = useInbox("open").counts?.all;
  const Heading = current === undefined ? "h1" : "h2";
  const { isPending, entries } = useShown();
  const isGone = !entries.some(({ place }) => place === left.at?.id);
  return (
    <section
      class={styles.whole}
      aria-busy={isPending}
      {...(current === undefined && isGone && placeOf(left.at))}
      tabIndex={-1}
    >
      <header class={feedStyles.header}>
        <Heading>{text.title}</Heading>
        <Filter />
      </header>
      <AwayNow />
      <FreezesNow />
      <div class={styles.tabs}>
        <Choice
          legend={text.tabs.label}
          hideLegend
          value={chosen}
          onChoose={(which) => choose({ state: which === "open" ? "" : which, q: "" })}
          options={[
            { value: "open", label: text.counted(text.tabs.open, waiting) },
            { value: "over", label: text.tabs.over },
          ]}
        />
      </div>
      <div class={toolsStyles.tools}>
        <Tools />
      </div>
      <ListCommands entries={entries} />
      <Rows current={current} />
      <Talks />
    </section>
  );
}

function Rows({ current }: { current: string | undefined }) {
  const { tab, asks, rows, entries, arrived, show, counts, order, error, isPending, refetch, ...pages } = useShown();
  const box = useRef<HTMLDivElement>(null);
  const wanted = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (wanted.current === null) return;
    box.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`)?.focus();
    wanted.current = null;
  }, [rows?.length]);
  if (isPending) return <Loading rows={4} />;
  if (!asks || !rows) return <Trouble level={2} title={text.failed} error={error} onTryAgain={() => void refetch()} />;
  const Heading = current === undefined ? "h2" : "h3";
  const row = (entry: Entry) => <Row key={entry.place} entry={entry} current={current} />;
  const showArrived = (): void => {
    wanted.current = arrived[0]?.id ?? null;
    show();
  };
  return (
    <div ref={box}>
      {arrived.length > 0 && (
        <div class={styles.arrived}>
          <button type="button" class="primary" onClick={showArrived}>
            {text.new(arrived.length)}
          </button>
        </div>
      )}
      {asks.length === 0 && <Empty isMore={pages.hasNextPage} />}
      {counts && order === "deadline" ? (
        groupsOf(entries, counts).map(({ due, count, rows }) => (
          <section key={due}>
            <Heading class={styles.due}>{text.counted(text.due[due], count)}</Heading>
            <ul>{rows.map(row)}</ul>
          </section>
        ))
      ) : (
        <ul>{entries.map(row)}</ul>
      )}
      <More
        label={counts ? text.more(Math.max(1, counts.all - asks.length)) : tab === "open" ? appText.more : text.older}
        rows={rows.length}
        isMore={pages.hasNextPage}
        readOn={() => pages.fetchNextPage({ throwOnError: true })}
      />
    </div>
  );
}

/** True for what somebody handed to the person, who has it in front of them. */
function isHanded({ handed_by: by, handed_on: on, snoozed_until: until }: ListedAsk): boolean {
  return by !== null && on === null && until === null;
}

/** The rows that somebody handed to the person, and the others by when they are due, at the time of the server's count. */
function groupsOf(entries: readonly Entry[], { at, due: counts }: Counts) {
  const from = Date.parse(at);
  const dueOf = ({ expires_at: until }: ListedAsk): Due => {
    if (until === null) return "none";
    const left = Date.parse(until) - from;
    return left <= SOON_MS ? "soon" : left <= TODAY_MS ? "today" : "later";
  };
  const groupOf = ({ rows: [first] }: Entry) => first && (isHanded(first) ? "handed" : dueOf(first));
  const handed = entries.flatMap(({ rows }) => (rows[0] && isHanded(rows[0]) ? rows : []));
  return (["handed", ...DUE] as const)
    .map((due) => ({
      due,
      count: due === "handed" ? handed.length : counts[due] - handed.filter((ask) => dueOf(ask) === due).length,
      rows: entries.filter((entry) => groupOf(entry) === due),
    }))
    .filter(({ rows }) => rows.length > 0);
}

/** Returns how to put the cursor where one writes what to look for: among past asks, where nothing waits. */
export function useSearch(): () => void {
  const { tab, filter, words, choose } = useChosen();
  const waiting = useInbox("open").counts?.all;
  return () => {
    const isNothing = tab === "open" && waiting === 0 && filter + words === "";
    const field = document.getElementById(SEARCH);
    if (field && !isNothing) return field.focus();
    toFocus.search = true;
    if (isNothing) choose({ state: "over" });
  };
}
/**
 * Who asks, what in a sentence, and how long there is; what looks risky has a mark that is seen from afar. Alike calls are
 * said by the first of them and their number.
 */
function Row({ entry, current }: { entry: Entry; current: string | undefined }) {
  const { place, rows, count } = entry;
  const [ask] = rows;
  if (!ask) return null;
  const isOpen = ask.state === "open";
  const leave = (): void => {
    left.at = { id: place, y: scrollY };
  };
  const marked = GRAVEST.find((risk) => isOpen && rows.some((one) => one.risk === risk));
  return (
    <li class={feedStyles.row}>
      <Link
        href={besideList(`/inbox/${place}`)}
        class={`${feedStyles.link} ${styles.link}`}
        aria-current={isAt(entry, current) ? "true" : undefined}
        data-row={place}
        onClick={leave}
        {...(current === undefined && place === left.at?.id && placeOf(left.at))}
      >
        <span class={styles.sentence} dir="auto">
          {sentenceOf(ask, count)}
        </span>
        {isHanded(ask) && ask.handed_by && (
          <span class={styles.handed} dir="auto">
            {handedBy(ask.handed_by)}
          </span>
        )}
        <span class={`${feedStyles.facts} ${styles.facts}`}>
          {marked !== undefined && (
            <span class={styles[marked]}>
              <Icon name="warning" />
              {text.risk[marked]}
            </span>
          )}
          <bdi>{ask.agent}</bdi>
          <span>{text.kind[ask.kind]}</span>
          {ask.handed_on ? (
            <span>{text.handedOn(ask.handed_on.to, null)}</span>
          ) : ask.snoozed_until !== null ? (
            <span>{text.snoozed(moment(ask.snoozed_until))}</span>
          ) : (
            isOpen && <Asked at={ask.created_at} />
          )}
          {ask.being_decided && <span>{text.deciding(null)}</span>}
          {isOpen ? (
            <span class={styles.time}>
              <Deadline until={ask.expires_at} />
            </span>
          ) : (
            <Ended ask={ask} />
          )}
        </span>
      </Link>
    </li>
  );
}

/** The risks that have a mark, the gravest first. */
const GRAVEST = ["high", "unjudged"] as const;

/** Returns the attributes that bring somebody who comes back to where they left. */
function placeOf(at: typeof left.at) {
  return at && { "data-focus": true, "data-place": at.y };
}

function Ended({ ask }: { ask: ListedAsk }) {
  const { outcome, settled_at: at } = ask;
  return (
    <>
      <span>{text.outcome(ask, text.who(outcome?.by ?? null, false))}</span>
      <CallEnd end={ask.call_outcome} />
      <span>{at !== null && ago(serverNow() - Date.parse(at))}</span>
    </>
  );
}

/** By when it is due, by kind, or by agent where there are several, and what is put aside; with how many there are of each. */
function Filter() {
  const { filter: chosen, tab: which, choose } = useChosen();
  const waiting = useInbox("open").counts;
  const counts = which === "open" ? waiting : null;
  const agents = counts?.agents ?? [];
  const option = (value: string, name: string, count: number | undefined) => (
    <option key={value} value={value}>
      {text.counted(name, count)}
    </option>
  );
  return (
    <select
      class={feedStyles.topic}
      aria-label={text.filter}
      value={chosen}
      onChange={({ currentTarget: { value } }) => choose({ show: value })}
    >
      {option("", text.all, counts?.all)}
      {(counts?.snoozed || chosen === "snoozed") && option("snoozed", text.snoozedOnly, counts?.snoozed)}
      {which === "open" && (
        <optgroup label={text.byDue}>
          {DUE.map((due) => option(`due:${due}`, text.due[due], counts?.due[due]))}
        </optgroup>
      )}
      <optgroup label={text.byKind}>
        {KINDS.map((kind) => option(`kind:${kind}`, text.kinds[kind], counts?.kinds[kind]))}
      </optgroup>
      {(agents.length > 1 || chosen.startsWith("agent:")) && (
        <optgroup label={text.byAgent}>
          {agents.map(({ agent, count }) => option(`agent:${agent}`, agent, count))}
        </optgroup>
      )}
    </select>
  );
}

function Empty({ isMore }: { isMore: boolean }) {
  const { tab: which, filter, words, choose } = useChosen();
  if (words !== "") {
    return <Notice level={2} title={isMore ? text.emptySearchSoFar : text.emptySearch} />;
  }
  if (filter !== "") {
    return (
      <Notice level={2} title={text.emptyFilter}>
        <button type="button" class="primary" onClick={() => choose({ show: "" })}>
          {text.showAll}
        </button>
      </Notice>
    );
  }
  if (which === "over") return <Notice level={2} title={text.emptyOver} hint={text.emptyOverHint} />;
  return (
    <Notice level={2} title={text.empty} hint={text.emptyHint}>
      <Link href="/me#notifications" class="button primary">
        {text.notify}
      </Link>
    </Notice>
  );
}
