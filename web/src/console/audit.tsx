import type { AuditEntry, AuditFilter } from "@parley/sdk/admin";
import { useState } from "preact/hooks";
import { type Choose, useFilter } from "../filter.ts";
import { Loading, Notice } from "../parts/notice.tsx";
import { More } from "../parts/more.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { useTitle } from "../title.ts";
import styles from "./console.module.css";
import { Moment, TextField } from "./parts.tsx";
import { useAudit, useChain, useNames } from "./queries.ts";
import { text } from "./text.ts";

const FILTERED = ["ask_id", "agent", "action"] as const;

/** The record of who did what, the newest first, and whether it is whole. */
export function AuditPage() {
  useTitle(text.audit.title);
  const [partOf, choose] = useFilter();
  const parts = FILTERED.flatMap((name) => (partOf(name) === "" ? [] : [[name, partOf(name)] as const]));
  const filter: AuditFilter = Object.fromEntries(parts);
  const chosen = JSON.stringify(filter);
  return (
    <section class={styles.console}>
      <h1>{text.audit.title}</h1>
      <ChainState />
      <Filter key={`filter ${chosen}`} filter={filter} onFilter={choose} />
      <Entries key={chosen} filter={filter} />
    </section>
  );
}

function ChainState() {
  const { data, isPending } = useChain();
  const says = (() => {
    if (isPending) return text.audit.checking;
    if (!data) return text.audit.chainFailed;
    return data.broken_at === null ? text.audit.holds(data.entries, data.unsealed) : text.audit.broken(data.broken_at);
  })();
  return (
    <p role="status" class={isPending || data?.holds ? undefined : styles.alarm}>
      {says}
    </p>
  );
}

function Filter({ filter, onFilter }: { filter: AuditFilter; onFilter: Choose }) {
  const [ask, setAsk] = useState(filter.ask_id ?? "");
  const [agent, setAgent] = useState(filter.agent ?? "");
  const [action, setAction] = useState(filter.action ?? "");
  const submit = (event: Event): void => {
    event.preventDefault();
    onFilter({ ask_id: ask.trim(), agent: agent.trim(), action: action.trim() });
  };
  const clear = (): void => {
    for (const set of [setAsk, setAgent, setAction]) set("");
    onFilter({ ask_id: "", agent: "", action: "" });
  };
  return (
    <form class={styles.filter} onSubmit={submit} role="search" aria-label={text.audit.filter}>
      <TextField label={text.audit.ask} value={ask} onInput={setAsk} />
      <TextField label={text.audit.agent} value={agent} onInput={setAgent} />
      <TextField label={text.audit.action} value={action} onInput={setAction} />
      <div class={styles.actions}>
        <button type="submit" class="primary">
          {text.audit.apply}
        </button>
        <button type="button" class="quiet" onClick={clear}>
          {text.audit.clear}
        </button>
      </div>
    </form>
  );
}

/** Entries of the record, the newest first. */
export function Entries({ filter }: { filter: AuditFilter }) {
  const { entries, error, refetch, hasNextPage, fetchNextPage } = useAudit(filter);
  const nameOf = useNames();
  if (error && !entries) {
    return <Trouble level={2} title={text.audit.failed} error={error} onTryAgain={() => void refetch()} />;
  }
  if (!entries) return <Loading rows={4} />;
  if (entries.length === 0) return <Notice level={2} title={text.audit.empty} />;
  return (
    <>
      <ol class={styles.entries}>
        {entries.map((entry) => (
          <li key={entry.seq}>
            <Entry entry={entry} by={text.audit.by(entry.actor.kind, entry.actor.id, nameOf(entry.actor.id))} />
          </li>
        ))}
      </ol>
      <More
        label={text.older}
        rows={entries.length}
        isMore={hasNextPage}
        readOn={() => fetchNextPage({ throwOnError: true })}
      />
    </>
  );
}

function Entry({ entry, by }: { entry: AuditEntry; by: string }) {
  const agent = entry.agent === undefined ? by : text.audit.by("agent", entry.agent, undefined);
  return (
    <details class={styles.entry}>
      <summary>
        <span>{text.deed(entry.action)}</span>
        <span class={`small muted ${styles.line}`}>
          <span dir="auto">{by}</span>
          {agent !== by && <span dir="auto">{agent}</span>}
          {entry.via !== undefined && <span dir="auto">{entry.via}</span>}
          <Moment time={entry.at} />
          <code>{entry.action}</code>
        </span>
      </summary>
      <pre dir="ltr" tabIndex={0} role="region" aria-label={text.audit.entry(entry.seq)}>
        {JSON.stringify(entry, null, 2)}
      </pre>
    </details>
  );
}
