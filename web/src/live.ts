import type { FeedEvent } from "@parley/sdk/wire";
import type { Query } from "@tanstack/query-core";
import { people } from "./api.ts";
import { onNews, sendWaiting } from "./outbox.ts";
import { isUnreachable, type ListedPage, refreshFeedInPlace, refreshFigures } from "./queries.ts";
import { queries } from "./query/query.ts";

/** How often waiting answers are tried when nothing else says that the server is back. */
const RETRY_MS = 30_000;

/** New questions are gathered for a moment, and the list is read at most this often, well within what one may read. */
const GATHER_MS = 300;
const FEED_PAUSE_MS = 20_000;

/** Results are read again at most this often while answers come in. */
const RESULTS_PAUSE_MS = 4000;

/**
 * Keeps what is on screen true while the page is looked at.
 *
 * A hidden page lets go of its stream: browsers allow only six connections to one server, for all tabs together.
 */
export function startLive(): void {
  document.addEventListener("visibilitychange", listen);
  addEventListener("online", () => {
    listen();
    refreshFigures();
  });
  // Somebody else has signed in by another tab: what is half written on this page is not theirs.
  window.addEventListener("storage", ({ key, oldValue }) => {
    if (key === "parley.person" && oldValue !== null) location.reload();
  });
  setInterval(trySending, RETRY_MS);
  onNews(() => refreshFigures("rest"));
  listen();
}

/** Follows the feed afresh, as the person who is here now, and sends what waits. */
export function listen(): void {
  stop.abort();
  if (document.hidden) return;
  stop = new AbortController();
  if (isFeedShown) void follow(stop.signal);
  void trySending();
}
let stop = new AbortController();
let isFeedShown = false;

/** Follows the feed while it is on screen, until the returned function is called: other rooms need the connection. */
export function followFeed(): () => void {
  isFeedShown = true;
  listen();
  return () => {
    isFeedShown = false;
    stop.abort();
  };
}

async function follow(signal: AbortSignal): Promise<void> {
  let before = false;
  const onConnect = (): void => {
    // The stream only amends: what happened while it was cut has to be read.
    if (before) refreshFigures();
    else void readMissed();
    before = true;
    void trySending();
  };
  try {
    for await (const event of people.events({ signal, onConnect })) apply(event);
  } catch {
    // Let go of, or not offered here: the page still reads when it is looked at again.
  }
}

/** Reads again what failed, and the list: a reading that began before the stream may lack what came before it, too. */
async function readMissed(): Promise<void> {
  const isEarly = ({ state }: Query): boolean => state.fetchStatus === "fetching" || isUnreachable(state.error);
  await queries.refetchQueries({ predicate: isEarly }, { cancelRefetch: false });
  await refreshFeedInPlace();
}

/** Sends the waiting answers if possible. */
export async function trySending(): Promise<void> {
  if (!(await sendWaiting())) await sendLater();
}

/** The browser wakes the service worker to send what waits, where it knows how to, even when no page is open. */
export async function sendLater(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration();
  await registration?.sync?.register("outbox").catch(() => {});
}

function apply(event: FeedEvent): void {
  const id = event.data.question_id;
  if (event.event === "opened") return readNew();
  if (event.event === "needs") {
    const { responses_needed } = event.data;
    amend(id, { responses_needed });
    queries.setQueryData<{ responses_needed: number }>(["question", id], (old) => old && { ...old, responses_needed });
  } else {
    amend(id, { gone: true });
    void queries.invalidateQueries({ queryKey: ["question", id] });
  }
  refreshResults(id);
}

/** The stream says only that there is something new; the list is read for several of them together. */
function readNew(): void {
  if (reading !== undefined) return;
  const wait = Math.max(GATHER_MS, lastRead + FEED_PAUSE_MS - Date.now());
  reading = setTimeout(() => {
    reading = undefined;
    lastRead = Date.now();
    void refreshFeedInPlace();
  }, wait);
}
let reading: ReturnType<typeof setTimeout> | undefined;
let lastRead = 0;

function amend(id: string, change: { responses_needed?: number; gone?: true }): void {
  queries.setQueriesData<ListedPage>(
    { queryKey: ["feed"] },
    (page) =>
      page && {
        ...page,
        questions: page.questions.map((one) => (one.question_id === id ? { ...one, ...change } : one)),
      },
  );
}

const due = new Set<string>();
function refreshResults(id: string): void {
  if (due.has(id) || !queries.getQueryData(["results", id])) return;
  due.add(id);
  setTimeout(() => {
    due.delete(id);
    void queries.invalidateQueries({ queryKey: ["results", id] });
  }, RESULTS_PAUSE_MS);
}
