import type { ActivityFilter, DecisionLine } from "@parley/sdk/admin";
import { serverNow } from "../../api.ts";
import { useFilter } from "../../filter.ts";
import { ago, isolated } from "../../format.ts";
import { moment } from "../../moment.ts";
import { Loading } from "../../parts/notice.tsx";
import { More } from "../../parts/more.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { Link } from "../../router.tsx";
import feedStyles from "../../answer/feed.module.css";
import { useTitle } from "../../title.ts";
import styles from "../console.module.css";
import { SelectField } from "../parts.tsx";
import { text as consoleText } from "../text.ts";
import { useActivity } from "./queries.ts";
import { text } from "./text.ts";

const KINDS = ["question", "request", "ask"] as const;
const BY = ["people", "rule", "model", "nobody", "withdrawn"] as const;
const STATES = ["ended", "waiting"] as const;

/** Returns a value of a closed set, of a text from the address. */
const oneOf = <T extends string>(all: readonly T[], words: string): T | undefined => all.find((one) => one === words);

/** Everything that was asked, the newest end first, by a choice that stands in the address. */
export function ActivityPage() {
  useTitle(text.activity);
  const [partOf, choose] = useFilter();
  const [from, until, agent] = [partOf("from"), partOf("until"), partOf("agent")];
  const filter: ActivityFilter = {
    kind: oneOf(KINDS, partOf("kind")),
    by: oneOf(BY, partOf("by")),
    state: oneOf(STATES, partOf("state")),
    ...(from !== "" && { from }),
    ...(until !== "" && { until }),
    ...(agent !== "" && { agent }),
  };
  const select = <T extends string>(name: "kind" | "by" | "state", label: string, words: Record<T, string>) => (
    <SelectField<T | "">
      label={label}
      value={(filter[name] as T | undefined) ?? ""}
      options={[
        { value: "", label: text.all },
        ...Object.entries<string>(words).map(([value, said]) => ({ value: value as T, label: said })),
      ]}
      onChoose={(value) => choose({ [name]: value })}
    />
  );
  return (
    <section class={styles.console}>
      <h1>{text.activity}</h1>
      <div class={styles.actions}>
        {select("state", text.filterState, text.states)}
        {select("by", text.filterBy, text.by)}
        {select("kind", text.filterKind, text.kinds)}
      </div>
      {(from !== "" || until !== "" || agent !== "") && (
        <p>
          {agent !== "" && text.agentOnly(isolated(agent))}{" "}
          {from !== "" && until !== "" && text.between(said(from), said(until))}{" "}
          <button type="button" class="quiet" onClick={() => choose({ from: "", until: "", agent: "" })}>
            {text.anyTime}
          </button>
        </p>
      )}
      <Found filter={filter} />
    </section>
  );
}

const said = (time: string): string => (Number.isNaN(Date.parse(time)) ? time : moment(time));

function Found({ filter }: { filter: ActivityFilter }) {
  const { first, rows, error, refetch, hasNextPage, fetchNextPage } = useActivity(filter);
  if (error && !rows) {
    return <Trouble level={2} title={text.listFailed} error={error} onTryAgain={() => void refetch()} />;
  }
  if (!rows) return <Loading rows={6} />;
  return (
    <div>
      {first?.total !== undefined && <p role="status">{text.rows(first.total)}</p>}
      {rows.length === 0 && <p class="muted">{text.none}</p>}
      <ul data-activity>
        {rows.map((row) => (
          <Row key={row.id} of={row} />
        ))}
      </ul>
      <More
        label={consoleText.older}
        rows={rows.length}
        isMore={hasNextPage}
        readOn={() => fetchNextPage({ throwOnError: true })}
      />
    </div>
  );
}

function Row({ of }: { of: DecisionLine }) {
  const { sentence, agent, kind, by, result, created_at: asked, ended_at: ended, wait_ms: waitMs } = of;
  const at = ended ?? asked;
  return (
    <li class={feedStyles.row}>
      <Link href={placeOf(of)} class={feedStyles.link}>
        <span class={feedStyles.prompt} dir="auto">
          {sentence}
        </span>
        <span class={feedStyles.facts}>
          <bdi>{agent}</bdi>
          <span>{text.kinds[kind]}</span>
          {by !== undefined && <span>{text.by[by]}</span>}
          {result !== undefined && <span>{text.results[result] ?? result}</span>}
          {waitMs !== undefined && <span>{text.took(waitMs)}</span>}
          <time dateTime={at} title={moment(at)}>
            {ended === undefined
              ? text.waitsSince(Math.max(0, serverNow() - Date.parse(asked)))
              : ago(Math.max(0, serverNow() - Date.parse(ended)))}
          </time>
        </span>
      </Link>
    </li>
  );
}

function placeOf({ kind, id }: DecisionLine): string {
  if (kind === "ask") return `/console/asks/${id}`;
  return kind === "request" ? `/inbox/${id}` : `/q/${id}`;
}
