import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Link } from "../router.tsx";
import feedStyles from "../answer/feed.module.css";
import { ago } from "../format.ts";
import { serverNow } from "../api.ts";
import { Icon } from "../parts/icon.tsx";
import { Choice } from "../parts/choice.tsx";
import { Loading, Notice } from "../parts/notice.tsx";
import { More } from "../parts/more.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { createStore } from "../store.ts";
import styles from "./inbox.module.css";
import { Deadline } from "./parts.tsx";
import { type Tab, useInbox } from "./queries.ts";
import { useSeen } from "./seen.ts";
import { BeginTalk, Talks } from "./talk/talks.tsx";
import { text } from "./text.ts";
import type { Counts, Due, Kind, ListedAsk, Wanted } from "./wire.ts";

/** Which of the two lists, and what of it; the same wherever in the room one is. */
export const tab = createStore<Tab>("open");
const shown = createStore("");
/** The words that are searched for among past asks. */
const sought = createStore("");

const KINDS: readonly Kind[] = ["approval", "reply", "value"];
const DUE: readonly Due[] = ["soon", "today", "later", "none"];
/** As the server counts. */
const SOON_MS = 3_600_000;
const TODAY_MS = 86_400_000;

/** Where the list was left for one of its rows: which one, and how far down the page was. */
let leftAt: { id: string; y: number } | null = null;

/** The list that is shown, as somebody has it in front of them; `arrived` is what has come in since. */
export function useShown(which: Tab) {
  const filter = shown.use();
  const words = sought.use();
  const list = useInbox(which, wantedBy(filter, which === "over" ? words : ""));
  return { ...list, ...useSeen(`${which} ${filter}`, list) };
}

function wantedBy(filter: string, words: string): Wanted {
  const [, by, what = ""] = /^(kind|due|agent):(.+)$/s.exec(filter) ?? [];
  const q = words.trim() === "" ? {} : { q: words.trim() };
  if (by === "kind") return { kind: what as Kind, ...q };
  if (by === "due") return { due: what as Due };
  return by === "agent" ? { agent: what } : q;
}

function choose(which: Tab): void {
  leftAt = null;
  // Past asks are neither counted by agent nor due.
  if (!shown.get().startsWith("kind:")) shown.set("");
  tab.set(which);
}

export function List({ current }: { current: string | undefined }) {
  const chosen = tab.use();
  const waiting = useInbox("open").counts?.all;
  const Heading = current === undefined ? "h1" : "h2";
  const { isPending, rows } = useShown(chosen);
  const isGone = !rows?.some(({ id }) => id === leftAt?.id);
  return (
    <section aria-busy={isPending} {...(current === undefined && isGone && placeOf(leftAt))} tabIndex={-1}>
      <header class={feedStyles.header}>
        <Heading>{text.title}</Heading>
        <Filter />
      </header>
      <div class={styles.tabs}>
        <Choice
          legend={text.tabs.label}
          hideLegend
          value={chosen}
          onChoose={choose}
          options={[
            { value: "open", label: text.counted(text.tabs.open, waiting) },
            { value: "over", label: text.tabs.over },
          ]}
        />
      </div>
      {chosen === "over" && <Search />}
      <BeginTalk />
      <Rows tab={chosen} current={current} />
      <Talks />
    </section>
  );
}

function Rows({ tab: which, current }: { tab: Tab; current: string | undefined }) {
  const { asks, rows, arrived, show, counts, error, isPending, refetch, ...pages } = useShown(which);
  const box = useRef<HTMLDivElement>(null);
  const wanted = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (wanted.current === null) return;
    box.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`)?.focus();
    wanted.current = null;
  }, [rows?.length]);
  const isFiltered = shown.use() !== "";
  if (isPending) return <Loading rows={4} />;
  if (!asks || !rows) return <Trouble level={2} title={text.failed} error={error} onTryAgain={() => void refetch()} />;
  const Heading = current === undefined ? "h2" : "h3";
  const row = (ask: ListedAsk) => <Row key={ask.id} ask={ask} current={current} />;
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
      {asks.length === 0 && <Empty which={which} isFiltered={isFiltered} isMore={pages.hasNextPage} />}
      {counts ? (
        groupsOf(rows, counts).map(({ due, rows }) => (
          <section key={due}>
            <Heading class={styles.due}>{text.counted(text.due[due], counts.due[due])}</Heading>
            <ul>{rows.map(row)}</ul>
          </section>
        ))
      ) : (
        <ul>{rows.map(row)}</ul>
      )}
      <More
        label={counts ? text.more(Math.max(1, counts.all - asks.length)) : text.older}
        rows={rows.length}
        isMore={pages.hasNextPage}
        readOn={() => pages.fetchNextPage({ throwOnError: true })}
      />
    </div>
  );
}

/** The rows by when they are due, at the time at which the server counted them. */
function groupsOf(asks: readonly ListedAsk[], { at }: Counts): { due: Due; rows: ListedAsk[] }[] {
  const from = Date.parse(at);
  const dueOf = ({ expires_at: until }: ListedAsk): Due => {
    if (until === null) return "none";
    const left = Date.parse(until) - from;
    return left <= SOON_MS ? "soon" : left <= TODAY_MS ? "today" : "later";
  };
  return DUE.map((due) => ({ due, rows: asks.filter((ask) => dueOf(ask) === due) })).filter(
    ({ rows }) => rows.length > 0,
  );
}

/** Looks through what is over once nobody writes for a moment. */
function Search() {
  const words = sought.use();
  const [written, write] = useState(words);
  useEffect(() => {
    const timer = setTimeout(() => sought.set(written), SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [written]);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (isToFocus) field.current?.focus();
    isToFocus = false;
  }, []);
  return (
    <input
      ref={field}
      id={SEARCH}
      type="search"
      class={styles.search}
      aria-label={text.search}
      placeholder={text.searchHint}
      maxLength={200}
      value={written}
      onInput={({ currentTarget }) => write(currentTarget.value)}
    />
  );
}
const SEARCH = "search";
const SEARCH_AFTER_MS = 250;

/** Shows what is over, with the cursor where one writes what to look for. */
export function search(): void {
  const field = document.getElementById(SEARCH);
  if (field) return field.focus();
  isToFocus = true;
  choose("over");
}
/** The field is to have the cursor once it is there. */
let isToFocus = false;

/** Who asks, what in a sentence, and how long there is; what looks risky has a mark that is seen from afar. */
function Row({ ask, current }: { ask: ListedAsk; current: string | undefined }) {
  const isOpen = ask.state === "open";
  const leave = (): void => {
    leftAt = { id: ask.id, y: scrollY };
  };
  return (
    <li class={feedStyles.row}>
      <Link
        href={`/inbox/${ask.id}`}
        class={`${feedStyles.link} ${styles.link}`}
        aria-current={ask.id === current ? "true" : undefined}
        data-row={ask.id}
        onClick={leave}
        {...(current === undefined && ask.id === leftAt?.id && placeOf(leftAt))}
      >
        <span class={styles.sentence} dir="auto">
          {ask.sentence}
        </span>
        <span class={`${feedStyles.facts} ${styles.facts}`}>
          {isOpen && (ask.risk === "high" || ask.risk === "unjudged") && (
            <span class={styles[ask.risk]}>
              <Icon name="warning" />
              {text.risk[ask.risk]}
            </span>
          )}
          <bdi>{ask.agent}</bdi>
          <span>{text.kind[ask.kind]}</span>
          {isOpen && <Asked at={ask.created_at} />}
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

/** When it was asked, to the minute, so that the row seldom changes. */
function Asked({ at }: { at: string }) {
  const ms = serverNow() - Date.parse(at);
  return <time dateTime={at}>{ago(ms < 60_000 ? 0 : ms)}</time>;
}

/** Returns the attributes that bring somebody who comes back to where they left. */
function placeOf(at: typeof leftAt) {
  return at && { "data-focus": true, "data-place": at.y };
}

function Ended({ ask }: { ask: ListedAsk }) {
  const { outcome, settled_at: at } = ask;
  return (
    <>
      <span>{text.outcome(ask, text.who(outcome?.by ?? null, false))}</span>
      <span>{at !== null && ago(serverNow() - Date.parse(at))}</span>
    </>
  );
}

/** By when it is due, by kind, or by agent where there are several; with how many there are of what waits. */
function Filter() {
  const chosen = shown.use();
  const which = tab.use();
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
      onChange={(event) => {
        leftAt = null;
        shown.set(event.currentTarget.value);
      }}
    >
      {option("", text.all, counts?.all)}
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

function Empty({ which, isFiltered, isMore }: { which: Tab; isFiltered: boolean; isMore: boolean }) {
  if (which === "over" && sought.get().trim() !== "") {
    return <Notice level={2} title={isMore ? text.emptySearchSoFar : text.emptySearch} hint={text.searchHint} />;
  }
  if (isFiltered) {
    return (
      <Notice level={2} title={text.emptyFilter}>
        <button type="button" class="primary" onClick={() => shown.set("")}>
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
