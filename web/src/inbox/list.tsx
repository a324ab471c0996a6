import { Link } from "wouter";
import feedStyles from "../answer/feed.module.css";
import { ago } from "../format.ts";
import { serverNow } from "../api.ts";
import { Choice } from "../parts/choice.tsx";
import { Loading, Notice } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { createStore } from "../store.ts";
import styles from "./inbox.module.css";
import { Deadline } from "./parts.tsx";
import { type Tab, useInbox } from "./queries.ts";
import { BeginTalk, Talks } from "./talk.tsx";
import { text } from "./text.ts";
import type { Kind, ListedAsk } from "./wire.ts";

/** Which of the two lists, and what of it; the same wherever in the room one is. */
export const tab = createStore<Tab>("open");
const shown = createStore("");

const KINDS: readonly Kind[] = ["approval", "reply", "value"];

export function List({ current }: { current: string | undefined }) {
  const chosen = tab.use();
  const Heading = current === undefined ? "h1" : "h2";
  return (
    <section aria-busy={useInbox(chosen).isPending}>
      <header class={feedStyles.header}>
        <Heading>{text.title}</Heading>
        <Filter />
      </header>
      <div class={styles.tabs}>
        <Choice
          legend={text.tabs.label}
          hideLegend
          value={chosen}
          onChoose={tab.set}
          options={(["open", "over"] as const).map((value) => ({ value, label: text.tabs[value] }))}
        />
      </div>
      <BeginTalk />
      <Rows tab={chosen} current={current} />
      <Talks />
    </section>
  );
}

function Rows({ tab: which, current }: { tab: Tab; current: string | undefined }) {
  const { asks, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInbox(which);
  const filter = shown.use();
  if (isPending) return <Loading rows={4} />;
  if (!asks) return <Trouble level={2} title={text.failed} error={error} onTryAgain={() => void refetch()} />;
  const rows = asks.filter((ask) => isShown(ask, filter));
  return (
    <>
      {rows.length === 0 && <Empty which={which} isFiltered={asks.length > 0} />}
      <ul>
        {rows.map((ask) => (
          <Row key={ask.id} ask={ask} isCurrent={ask.id === current} />
        ))}
      </ul>
      {hasNextPage && (
        <button
          type="button"
          class={styles.older}
          aria-disabled={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          {text.older}
        </button>
      )}
    </>
  );
}

function Row({ ask, isCurrent }: { ask: ListedAsk; isCurrent: boolean }) {
  return (
    <li class={feedStyles.row}>
      <Link href={`/inbox/${ask.id}`} class={feedStyles.link} aria-current={isCurrent ? "true" : undefined} data-row>
        <span class={`${feedStyles.prompt} ${ask.kind === "approval" ? styles.fn : ""}`}>{ask.fn ?? ask.title}</span>
        <span class={feedStyles.facts}>
          <span>{text.kind[ask.kind]}</span>
          <span>{ask.agent}</span>
          {ask.state === "open" ? (
            <Deadline until={ask.expires_at} />
          ) : (
            <>
              <span>{text.outcome(ask, text.who(ask.outcome?.by ?? null, false))}</span>
              <span>{ask.settled_at !== null && ago(serverNow() - Date.parse(ask.settled_at))}</span>
            </>
          )}
        </span>
      </Link>
    </li>
  );
}

/** By kind, or by agent where there are several. */
function Filter() {
  const chosen = shown.use();
  const { asks = [] } = useInbox(tab.use());
  const agents = [...new Set(asks.map(({ agent }) => agent))].sort();
  return (
    <select
      class={feedStyles.topic}
      aria-label={text.filter}
      value={chosen}
      onChange={(event) => shown.set(event.currentTarget.value)}
    >
      <option value="">{text.all}</option>
      <optgroup label={text.byKind}>
        {KINDS.map((kind) => (
          <option key={kind} value={`kind:${kind}`}>
            {text.kinds[kind]}
          </option>
        ))}
      </optgroup>
      {(agents.length > 1 || chosen.startsWith("agent:")) && (
        <optgroup label={text.byAgent}>
          {agents.map((agent) => (
            <option key={agent} value={`agent:${agent}`}>
              {agent}
            </option>
          ))}
        </optgroup>
      )}
    </select>
  );
}

export function isShown(ask: ListedAsk, filter = shown.get()): boolean {
  if (filter === "") return true;
  return filter === `kind:${ask.kind}` || filter === `agent:${ask.agent}`;
}

function Empty({ which, isFiltered }: { which: Tab; isFiltered: boolean }) {
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
