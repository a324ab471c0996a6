import { useEffect, useRef, useState } from "preact/hooks";
import questionStyles from "../answer/question.module.css";
import { besideList } from "../filter.ts";
import { day } from "../format.ts";
import { locale } from "../language.ts";
import { moment } from "../moment.ts";
import { Icon } from "../parts/icon.tsx";
import { More } from "../parts/more.tsx";
import { Loading, Notice } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { codeOf } from "../queries.ts";
import { useInfiniteQuery } from "../query/pages.ts";
import { useQuery } from "../query/query.ts";
import { Link } from "../router.tsx";
import { useTitle } from "../title.ts";
import { inbox } from "./api.ts";
import askStyles from "./ask.module.css";
import { EndWord } from "./call-end.tsx";
import listStyles from "./inbox.module.css";
import styles from "./run.module.css";
import { text } from "./run-text.ts";
import { text as inboxText } from "./text.ts";
import type { RunEntry } from "./wire.ts";

const clocks = new Intl.DateTimeFormat(locale, { timeStyle: "short" });

/** The next page is read while so much of this one is still below the screen. */
const AHEAD = "2000px";

/**
 * The entries of a run as they were opened, page after page, and those that have come in since. An entry never changes,
 * so only the newest page is read again.
 */
function useRun(ask: string) {
  const pages = useInfiniteQuery({
    queryKey: ["run pages", ask],
    queryFn: ({ pageParam, signal }) => inbox.run(ask, { before: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const { data: newest } = useQuery({ queryKey: ["run", ask], queryFn: ({ signal }) => inbox.run(ask, { signal }) });
  const [shown, setShown] = useState<readonly RunEntry[]>([]);
  const read = pages.data?.pages.flatMap((page) => page.entries);
  const known = new Set([...shown, ...(read ?? [])].map(({ id }) => id));
  const arrived = read && newest ? newest.entries.filter(({ id }) => !known.has(id)) : [];
  const show = (): void => {
    // So many have come in that some of them are behind the newest page.
    const hasGap = newest?.next != null && arrived.length === newest.entries.length;
    setShown(hasGap ? [] : [...arrived, ...shown]);
    if (hasGap) void pages.refetch();
  };
  const entries = read && [...shown, ...read].sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
  return { ...pages, entries, arrived, show };
}

/** Everything of the run that an ask is part of, as far as the reader may see it: a list for each day, the newest first. */
export function Run({ ask }: { ask: string }) {
  const { entries, arrived, show, error, hasNextPage, isFetchNextPageError, fetchNextPage, refetch } = useRun(ask);
  useTitle(text.title);
  const box = useRef<HTMLDivElement>(null);
  const end = useNearEnd(entries?.length, () => hasNextPage && !isFetchNextPageError && void fetchNextPage());
  const showArrived = (): void => {
    show();
    box.current?.focus({ preventScroll: true });
  };
  return (
    <article class={`${questionStyles.frame} ${askStyles.frame}`} tabIndex={-1} data-focus>
      <header class={styles.header}>
        <h1>{text.title}</h1>
        <p class="muted">{text.lead}</p>
        <Link href={besideList(`/inbox/${ask}`)} class="small">
          {text.toCard}
        </Link>
      </header>
      <div ref={box} class={styles.entries} tabIndex={-1}>
        {arrived.length > 0 && (
          <div class={listStyles.arrived}>
            <button type="button" class="primary" onClick={showArrived}>
              {text.new(arrived.length)}
            </button>
          </div>
        )}
        {entries?.length === 0 && <Notice level={2} title={text.none} hint={text.noneHint} />}
        {entries && daysOf(entries).map((one) => <Day key={one.day} {...one} />)}
        {entries && (
          <div ref={end}>
            {/* A page that comes by itself has no button to push away. */}
            <More
              label={text.older}
              rows={entries.length}
              isMore={hasNextPage && isFetchNextPageError}
              readOn={() => fetchNextPage({ throwOnError: true })}
            />
          </div>
        )}
        {!entries && <Missing error={error} onTryAgain={() => void refetch()} />}
      </div>
    </article>
  );
}

function Missing({ error, onTryAgain }: { error: unknown; onTryAgain: () => void }) {
  if (codeOf(error) === "NOT_FOUND") {
    return <Notice level={2} title={inboxText.ask.unknown} hint={inboxText.ask.unknownHint} />;
  }
  if (!error) return <Loading rows={8} />;
  return <Trouble level={2} title={text.failed} error={error} onTryAgain={onTryAgain} />;
}

/** Calls `onNear` when the place that the reference is given to comes near the screen, or is near it with more rows. */
function useNearEnd(rows: number | undefined, onNear: () => void) {
  const near = useRef(onNear);
  near.current = onNear;
  const [place, setPlace] = useState<HTMLElement | null>(null);
  useEffect(() => {
    if (!place) return;
    const seen = new IntersectionObserver(
      (changes) => {
        if (changes.some(({ isIntersecting }) => isIntersecting)) near.current();
      },
      { rootMargin: AHEAD },
    );
    seen.observe(place);
    return () => seen.disconnect();
  }, [place, rows]);
  return setPlace;
}

/** Parts entries by the days of the reader's calendar. */
function daysOf(entries: readonly RunEntry[]): { day: string; entries: readonly RunEntry[] }[] {
  return [...Map.groupBy(entries, ({ at }) => day(at))].map(([of, on]) => ({ day: of, entries: on }));
}

function Day({ day: of, entries }: { day: string; entries: readonly RunEntry[] }) {
  return (
    <section aria-label={of}>
      <h2 class={listStyles.due}>{of}</h2>
      <ul>
        {entries.map((entry) => (
          <li key={entry.id} class={styles.entry} data-entry={entry.kind}>
            {entry.ask ? (
              <Link href={besideList(`/inbox/${entry.ask.id}`)} class={styles.line}>
                <Line entry={entry} />
              </Link>
            ) : (
              <div class={styles.line}>
                <Line entry={entry} />
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

type IconName = Parameters<typeof Icon>[0]["name"];

/** The icon of each kind; an outcome has that of its state. */
const ICONS: Record<RunEntry["kind"], IconName | null> = {
  asked: "inbox",
  pressed: "me",
  undone: "back",
  counted: "check",
  approved: "check",
  rejected: "close",
  answered: "check",
  expired: "warning",
  cancelled: "close",
  asked_back: "questions",
  inquiry_answered: "questions",
  noted: "questions",
  note_given: "check",
  started: "console",
  outcome: "console",
  frozen: "warning",
  thawed: "check",
};

function Line({ entry: { at, kind, by, mine, ask, state, text: words } }: { entry: RunEntry }) {
  const who = by && by.kind !== "agent" ? inboxText.who(by, mine) : null;
  const icon = ICONS[kind];
  return (
    <>
      <span class={styles.icon}>{icon && <Icon name={icon} />}</span>
      <span class={styles.said}>
        {state !== null && kind === "outcome" ? <EndWord state={state} /> : text.said[kind](who, ask?.agent ?? "")}
        {words !== null && (
          <>
            : <bdi>{words}</bdi>
          </>
        )}
      </span>
      <time class={styles.time} dateTime={at} title={moment(at)}>
        {clocks.format(new Date(at))}
      </time>
      {ask && (
        <span class={styles.of} dir="auto">
          {ask.title}
        </span>
      )}
      {state === "not_reported" && <span class={styles.of}>{inboxText.callEnd.not_reported}</span>}
    </>
  );
}
