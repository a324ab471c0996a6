import { useEffect, useRef, useState } from "preact/hooks";
import { besideList } from "../filter.ts";
import { Link, useLocation } from "../router.tsx";
import roomStyles from "../answer/answer-room.module.css";
import { useKeys } from "../keys.ts";
import { later } from "../parts/later.tsx";
import { Loading } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { SignOut } from "../parts/sign-out.tsx";
import { isSignedOut, useSession } from "../session.ts";
import { wide } from "../wide.ts";
import styles from "./inbox.module.css";
import { batchIn, isAt } from "./entries.ts";
import { List, useSearch, useShown } from "./list.tsx";
import { pressed } from "./pressed.ts";
import { decided, useArrivals, useInboxTitle, useLiveInbox } from "./queries.ts";
import { talkIn } from "./talk/path.ts";
import { text } from "./text.ts";
import type { ListedAsk, WholeAsk } from "./wire.ts";

const loading = () => <Loading rows={3} />;
/** On a phone the list is on screen without it. */
const Ask = later(async () => (await import("./ask.tsx")).Ask, loading);
const Batch = later(async () => (await import("./batch.tsx")).BatchOfCalls, loading);
const Talk = later(async () => (await import("./talk/talk.tsx")).Talk, loading);
/** Its words are long, and seldom needed. */
const SignedOut = later(async () => (await import("./signed-out.tsx")).SignedOut, loading);
const UndoBar = later(async () => (await import("./undo.tsx")).UndoBar);
const NewTalk = later(async () => (await import("./talk/talk.tsx")).NewTalk, loading);

const loadAsk = (): void => void Ask.load();
if (wide.get() || location.pathname !== "/inbox") loadAsk();

/** The inbox of the person who is signed in: the list, one ask, or on a wide screen both side by side. */
export default function Inbox({ id }: { id?: string }) {
  const session = useSession();
  if (session.data) return <InboxScreen id={id} name={session.data.person.name} />;
  return (
    <div class={roomStyles.list}>
      {session.error ? (
        isSignedOut(session.error) ? (
          <SignedOut />
        ) : (
          <Trouble title={text.failed} error={session.error} onTryAgain={() => void session.refetch()} />
        )
      ) : (
        <Loading rows={4} />
      )}
    </div>
  );
}

function InboxScreen({ id, name }: { id: string | undefined; name: string }) {
  useInboxTitle(text.title);
  const isWide = wide.use();
  const [, go] = useLocation();
  const { tab, rows = [], entries, isToShow, show, hasNextPage, fetchNextPage } = useShown();
  const search = useSearch();
  useLiveInbox();
  useArrivals();

  useEffect(() => {
    if (isToShow) show();
  }, [isToShow, show]);

  const first = entries[0]?.place;
  // Beside the list there is room for an ask: the one whose deadline is next.
  useEffect(() => {
    if (isWide && id === undefined && first !== undefined) {
      go(besideList(`/inbox/${first}`), { replace: true, state: "opened-by-itself" });
    }
  }, [isWide, id, first]);

  const move = (step: 1 | -1): void => {
    if (id === undefined) return moveFocus(step);
    const at = entries.findIndex((one) => isAt(one, id));
    const next = entries[at < 0 ? 0 : at + step];
    if (next) go(besideList(`/inbox/${next.place}`));
    // Near the last line that was read, the next page is read.
    if (step === 1 && at + 2 >= entries.length && hasNextPage) void fetchNextPage();
  };
  const hasList = isWide || id === undefined;
  useKeys({ j: () => move(1), k: () => move(-1), "/": hasList ? search : undefined });

  const next = useBelow(id, tab === "open" ? rows : []);
  const before = useOnward(id, next);
  const below = entries[entries.findIndex((one) => one.place === id) + 1]?.place;
  useEffect(() => void UndoBar.load(), []);
  const undo = pressed.use() !== null && <UndoBar />;
  const detail = id !== undefined && detailOf(id, { next, before, below });
  if (!isWide && detail) {
    return (
      <>
        {detail}
        {undo}
      </>
    );
  }
  const list = (
    <div class={roomStyles.list} onPointerDown={loadAsk}>
      <List current={isWide ? id : undefined} />
      <footer class={styles.footer}>
        <span>{text.signedInAs(name)}</span>
        <Link href="/me#notifications" class="button quiet">
          {text.notify}
        </Link>
        <SignOut label={text.signOut} />
      </footer>
    </div>
  );
  // The list stays the same one when an ask opens beside it, and keeps what is written in it.
  return (
    <div class={detail ? roomStyles.sides : undefined}>
      {list}
      {detail}
      {undo}
    </div>
  );
}

/** The detail at a place in the inbox: one ask, several calls, one conversation, or the beginning of one. */
function detailOf(
  id: string,
  beside: {
    next: ListedAsk | undefined;
    before: WholeAsk | undefined;
    below: string | undefined;
  },
) {
  const talk = talkIn(id);
  const batch = batchIn(id);
  if (batch !== null) return <Batch key={id} id={batch} next={beside.below} />;
  if (id === "new") return <NewTalk />;
  if (talk !== null) return <Talk key={id} id={talk} />;
  return <Ask key={id} id={id} next={beside.next} before={beside.before} />;
}

/** Returns the row below this one, also once this one has left the list; what stands above was passed over. */
function useBelow(id: string | undefined, rows: readonly ListedAsk[]): ListedAsk | undefined {
  const below = useRef<{ id: string | undefined; ids: ReadonlySet<string> }>({ id, ids: new Set() });
  const at = rows.findIndex((one) => one.id === id);
  if (at >= 0 || below.current.id !== id) {
    below.current = { id, ids: new Set(at < 0 ? [] : rows.slice(at + 1).map((one) => one.id)) };
  }
  return rows.find((one) => below.current.ids.has(one.id));
}

/** Opens the next ask once this one was decided or put aside here, and returns the one that was. */
function useOnward(id: string | undefined, next: ListedAsk | undefined): WholeAsk | undefined {
  const [, go] = useLocation();
  const last = decided.use();
  const known = useRef(last);
  const [from, setFrom] = useState<{ ask: WholeAsk; to: string } | null>(null);
  useEffect(() => {
    if (last === known.current) return;
    known.current = last;
    if (!last || last.id !== id || !next) return;
    setFrom({ ask: last, to: next.id });
    go(besideList(`/inbox/${next.id}`), { replace: true });
  }, [last]);
  return from?.to === id ? from?.ask : undefined;
}

/** Without an open ask, j and k walk through the list. */
function moveFocus(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows[at < 0 ? 0 : at + step]?.focus();
}
