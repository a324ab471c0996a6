import type { ActivityHours, DecisionLine } from "@parley/sdk/admin";
import { number } from "../../format.ts";
import { moment } from "../../moment.ts";
import { Choice } from "../../parts/choice.tsx";
import { Loading } from "../../parts/notice.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { Link } from "../../router.tsx";
import { useTitle } from "../../title.ts";
import styles from "../console.module.css";
import overviewStyles from "../overview/overview.module.css";
import { text as overviewText } from "../overview/text.ts";
import { clock } from "../parts.tsx";
import relayStyles from "../relay/relay.module.css";
import { useChoice } from "../use-choice.ts";
import { useHours } from "./queries.ts";
import { text } from "./text.ts";
import todayStyles from "./today.module.css";

type By = NonNullable<DecisionLine["by"]>;
type Counts = ActivityHours["counts"];

const BY: readonly By[] = ["people", "rule", "model", "nobody", "withdrawn"];
const sum = (counts: Counts): number => BY.reduce((all, by) => all + counts[by], 0);

/** The decisions of a day, a week or a month, by time and by whom; each number opens the list that it counts. */
export function TodayPage() {
  useTitle(overviewText.today.title);
  const { which: span, options, onChoose } = useChoice(["day", "week", "month"], "span");
  const { data, error, refetch } = useHours(span);
  return (
    <section class={styles.console}>
      <h1>{overviewText.today.title}</h1>
      <div class={styles.tabs}>
        <Choice
          legend={text.span}
          hideLegend
          value={span}
          onChoose={onChoose}
          options={options.map((value) => ({ value, label: text.spans[value] }))}
        />
      </div>
      {data?.span === span ? (
        <Numbers of={data} />
      ) : error ? (
        <Trouble level={2} title={text.failed} error={error} onTryAgain={() => void refetch()} />
      ) : (
        <Loading rows={6} />
      )}
    </section>
  );
}

function Numbers({ of }: { of: ActivityHours }) {
  const { at, from, counts, before, waits, waiting, bars } = of;
  return (
    <>
      <p role="status">
        {text.total(sum(counts))} <span class="muted">{overviewText.waiting.at(clock(Date.parse(at)))}</span>
      </p>
      <dl class={overviewStyles.figures}>
        {BY.map((by) => (
          <div key={by}>
            <dt>{text.by[by]}</dt>
            <dd>
              <Link href={listOf({ by, from, until: at })} class={relayStyles.target}>
                {number(counts[by])}
              </Link>
            </dd>
            <dd class={todayStyles.before}>
              <Link href={listOf({ by, from: before.from, until: before.until })} class={relayStyles.target}>
                {text.before(before.counts[by])}
              </Link>
            </dd>
          </div>
        ))}
      </dl>
      <Chart bars={bars} />
      {waits.median_ms !== null && waits.p95_ms !== null && <p>{text.waits(waits.median_ms, waits.p95_ms)}</p>}
      <p>
        {waiting === 0 ? (
          text.waiting(0)
        ) : (
          <Link href="/console/activity?state=waiting" class={relayStyles.target}>
            {text.waiting(waiting)}
          </Link>
        )}
      </p>
    </>
  );
}

const listOf = (filter: Readonly<Record<string, string>>): string =>
  `/console/activity?${new URLSearchParams(filter).toString()}`;

/** A bar for each step of time, and the same as a table, each number of which opens its list. */
function Chart({ bars }: { bars: ActivityHours["bars"] }) {
  const most = Math.max(1, ...bars.map(({ counts }) => sum(counts)));
  return (
    <figure class={`${relayStyles.chart} ${todayStyles.figure}`}>
      <figcaption>{text.chart}</figcaption>
      <svg viewBox={`0 0 ${bars.length} ${most}`} preserveAspectRatio="none" aria-hidden="true">
        {bars.map(({ counts }, at) => (
          <rect key={at} x={at + 0.1} y={most - sum(counts)} width={0.8} height={sum(counts)} />
        ))}
      </svg>
      <details>
        <summary class={todayStyles.summary}>{text.table}</summary>
        <div class={todayStyles.scroll} tabIndex={0} role="region" aria-label={text.chart}>
          <table>
            <thead>
              <tr>
                <th scope="col">{text.from}</th>
                {BY.map((by) => (
                  <th key={by} scope="col">
                    {text.by[by]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {bars.map(({ from, until, counts }) => (
                <tr key={from}>
                  <th scope="row">{moment(from)}</th>
                  {BY.map((by) => (
                    <td key={by}>
                      {counts[by] === 0 ? (
                        number(0)
                      ) : (
                        <Link href={listOf({ by, from, until })} class={relayStyles.target}>
                          {number(counts[by])}
                        </Link>
                      )}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
