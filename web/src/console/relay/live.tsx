import { useState } from "preact/hooks";
import { serverNow } from "../../api.ts";
import { Loading, Notice } from "../../parts/notice.tsx";
import { number } from "../../format.ts";
import { later } from "../../parts/later.tsx";
import { useTitle } from "../../title.ts";
import styles from "../console.module.css";
import { clock, List, listed, Rows, Section } from "../parts.tsx";
import overviewStyles from "../overview/overview.module.css";
import { text as overviewText } from "../overview/text.ts";
import { WaitingList } from "../overview/waiting-list.tsx";
import type { PageProps } from "../page-props.ts";
import * as api from "./api.ts";
import { askRow, jobRow } from "./parts.tsx";
import relayStyles from "./relay.module.css";
import { text } from "./text.ts";
import type { AnsweredBy, Figures, Stage } from "./wire.ts";

/** Its words come with it. */
const FreezesSection = later(async () => (await import("../../inbox/freezes.tsx")).FreezesSection);

const BY: readonly AnsweredBy[] = ["policy", "cache", "runner", "people", "nobody"];
const SHOWN = { asks: 30, jobs: 20 };
const STAGES: readonly Stage[] = ["intake", "policy", "cache", "runner", "people"];

/** The requests that wait for people; the asks and jobs of executors as they happen, with the figures of the last hour. */
export function LivePage({ me }: PageProps) {
  useTitle(overviewText.waiting.title);
  const asks = api.useAskList("all").rows?.slice(0, SHOWN.asks);
  const jobs = api.useJobList("all").rows?.slice(0, SHOWN.jobs);
  const [figures, setFigures] = useState<{ of: Figures; at: number } | null>(null);
  api.useStream("/admin/live", {
    onEvent(event, data) {
      if (event === "figures") setFigures({ of: data as Figures, at: serverNow() });
      else void api.refreshRelay(event);
    },
  });
  return (
    <section class={styles.console}>
      <h1>{overviewText.waiting.title}</h1>
      <WaitingList me={me.id} />
      <FreezesSection />
      {figures ? <Hour {...figures} /> : <p class="muted">{text.live.waiting}</p>}
      {!asks && <Loading rows={4} />}
      {asks?.length === 0 && <Notice level={2} title={text.live.noAsks} hint={text.live.noAsksHint} />}
      {asks && asks.length > 0 && (
        <List title={text.live.newestAsks} isAlone={false}>
          <Rows base="/console/asks" rows={asks.map(askRow)} current={undefined} />
        </List>
      )}
      {asks && (
        <List title={text.live.newestJobs} isAlone={false}>
          {jobs?.length === 0 && <p class="muted">{text.live.noJobs}</p>}
          <Rows base="/console/jobs" rows={jobs?.map(jobRow) ?? []} current={undefined} />
        </List>
      )}
    </section>
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);

/** Every number is of one reading, whose time is shown. */
function Hour({ of: { minutes, pending }, at }: { of: Figures; at: number }) {
  const ended = minutes.map(({ stages }) => sum(Object.values(stages)));
  const total = sum(ended);
  const ofStage = (stage: Stage): number => sum(minutes.map(({ stages }) => stages[stage] ?? 0));
  const p95 = minutes.map(({ p95_ms }) => p95_ms);
  const known = p95.filter((ms) => ms !== null);
  const endedSays = text.live.endedSays(total, Math.max(...ended));
  const p95Says = text.live.p95Says(known.at(-1) ?? null, known.length === 0 ? null : Math.max(...known));
  const waiting = (of: (stage: Stage) => boolean) =>
    sum(pending.filter(({ stage }) => of(stage)).map((one) => one.count));
  return (
    <Section title={overviewText.waiting.executors}>
      <p role="status">
        {text.live.pending(
          waiting(() => true),
          waiting((stage) => stage === "people"),
        )}{" "}
        <span class="muted">{overviewText.waiting.at(clock(at))}</span>
      </p>
      <Shares of={minutes} total={total} />
      <div class={relayStyles.charts}>
        <figure class={relayStyles.chart}>
          <figcaption>{text.live.ended}</figcaption>
          <Bars values={ended} label={text.live.chart(text.live.ended, endedSays)} />
          <p class="small">{endedSays}</p>
          <p class="small muted">
            {listed(
              STAGES.filter((stage) => ofStage(stage) > 0).map((stage) => text.live.byStage(stage, ofStage(stage))),
            )}
          </p>
        </figure>
        <figure class={relayStyles.chart}>
          <figcaption>{text.live.shares}</figcaption>
          {total === 0 && <p class="small">{text.live.noShares}</p>}
          <ul class={relayStyles.shares}>
            {BY.map((by) => ({ by, n: sum(minutes.map((one) => one.by[by] ?? 0)) }))
              .filter(({ n }) => n > 0)
              .map(({ by, n }) => (
                <li key={by}>
                  {text.live.share(by, n / total, n)}
                  <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                    <rect width={(100 * n) / total} height={1} />
                  </svg>
                </li>
              ))}
          </ul>
        </figure>
        <figure class={relayStyles.chart}>
          <figcaption>{text.live.p95}</figcaption>
          <Bars values={p95.map((ms) => ms ?? 0)} label={text.live.chart(text.live.p95, p95Says)} />
          <p class="small">{p95Says}</p>
        </figure>
      </div>
    </Section>
  );
}

/** How many asks ended, and which part of them rules, models and people answered. */
function Shares({ of: minutes, total }: { of: Figures["minutes"]; total: number }) {
  const by = (...all: AnsweredBy[]) => sum(minutes.map((one) => sum(all.map((name) => one.by[name] ?? 0))));
  const { ended, rules, models, people, nobody, share } = overviewText.waiting;
  const parts: (readonly [string, number])[] = [
    [rules, by("policy", "cache")],
    [models, by("runner")],
    [people, by("people")],
    [nobody, by("nobody")],
  ];
  return (
    <dl class={overviewStyles.figures}>
      <div>
        <dt>{ended}</dt>
        <dd>{number(total)}</dd>
      </div>
      {total > 0 &&
        parts.map(([name, n]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{share(n / total)}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A bar for each minute, the highest as high as there is room. */
function Bars({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(1, ...values);
  return (
    <svg viewBox={`0 0 ${values.length} 1`} preserveAspectRatio="none" role="img" aria-label={label}>
      {values.map((value, at) => (
        <rect key={at} x={at + 0.1} y={1 - value / most} width={0.8} height={value / most} />
      ))}
    </svg>
  );
}
