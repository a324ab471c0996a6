import { useEffect, useState } from "preact/hooks";
import { number } from "../../format.ts";
import { Loading } from "../../parts/notice.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import styles from "../console.module.css";
import type { PageProps } from "../page-props.ts";
import relayStyles from "./relay.module.css";
import { moment } from "../../moment.ts";
import { Detail, Facts, Moment, Section, Sides, Unread } from "../parts.tsx";
import { useChoice } from "../use-choice.ts";
import * as api from "./api.ts";
import { Paged, hrefOf, jobRow, Line, MoreOf, Output } from "./parts.tsx";
import { text } from "./text.ts";
import type { AskStatus, Job, JobEvent, JobState } from "./wire.ts";
import { text as appText } from "../../text.ts";
import { Link } from "../../router.tsx";

const BASE = "/console/jobs";
/** After so many events that came while one looks, the list is read anew. */
const MOST_LIVE = 200;

/** Everybody's jobs, and one of them as it goes. */
export function JobsPage({ item }: PageProps) {
  const choice = useChoice<api.JobFilter>(["all", "open", "over"]);
  const { rows: jobs, error, refetch, hasNextPage, fetchNextPage } = api.useJobList(choice.which);
  if (error && !jobs) return <Trouble title={text.jobs.failed} error={error} onTryAgain={() => void refetch()} />;
  const list = (
    <Paged
      words={text.jobs}
      choice={choice}
      rows={jobs?.map(jobRow)}
      base={BASE}
      item={item}
      hasNextPage={hasNextPage}
      fetchNextPage={fetchNextPage}
    />
  );
  return <Sides list={list} detail={item === undefined ? undefined : <JobPage key={item} id={item} />} />;
}

function JobPage({ id }: { id: string }) {
  const { data, error, refetch } = api.useJob(id);
  if (error && !data) {
    return <Unread error={error} title={text.jobs.failed} to={BASE} onTryAgain={() => void refetch()} />;
  }
  if (!data) return <Loading rows={4} />;
  return <OneJob job={data} />;
}

function OneJob({ job }: { job: Job }) {
  return (
    <Detail title={job.title} isGiven>
      <p role="status">{text.jobState(job.state)}</p>
      <Facts
        facts={[
          ...(job.reason === undefined ? [] : [[text.jobs.reason, <bdi>{job.reason}</bdi>] as const]),
          [text.jobs.id, <code>{job.job_id}</code>],
          [text.jobs.kind, <bdi>{job.kind}</bdi>],
          [text.jobs.owner, <bdi>{job.owner}</bdi>],
          [text.jobs.holder, holderOf(job)],
          [text.jobs.epoch, number(job.epoch)],
          [text.jobs.attempts, text.jobs.attemptsOf(job.attempts, job.max_attempts)],
          ...(job.lease_expires_at === undefined
            ? []
            : [[text.jobs.lease, <Moment time={job.lease_expires_at} />] as const]),
          [text.jobs.made, <Moment time={job.created_at} />],
          [text.jobs.changed, <Moment time={job.updated_at} />],
          ...(api.isOver(job.state) ? [] : [[text.jobs.ttl, <Moment time={job.expires_at} />] as const]),
          ...((job.env ?? job.repo) === undefined
            ? []
            : [[text.jobs.place, <bdi>{[job.env, job.repo].filter(Boolean).join(", ")}</bdi>] as const]),
        ]}
      />
      <Output label={text.jobs.labels} value={job.labels} />
      <Output label={text.jobs.spec} value={job.spec} />
      <Output label={text.jobs.result} value={job.result} />
      <Output label={text.jobs.artifacts} value={job.artifacts} />
      <AsksOf job={job.job_id} />
      <Events job={job} />
    </Detail>
  );
}

function holderOf({ external, holder }: Job) {
  if (external) return text.jobs.external;
  return holder === undefined ? text.jobs.nobody : <bdi>{holder}</bdi>;
}

function AsksOf({ job }: { job: string }) {
  const pages = api.useAsksOfJob(job);
  const asks = pages.rows;
  return (
    <Section title={text.jobs.asks}>
      {asks?.length === 0 && <p class="muted">{text.jobs.noAsks}</p>}
      <ol class={styles.entries}>
        {asks?.map(({ ask, answer }) => (
          <li key={ask.ask_id}>
            <div>
              <p dir="auto">
                <Link href={hrefOf("asks", ask.ask_id)}>{ask.prompt}</Link>
              </p>
              {answer?.answer_text !== undefined && (
                <p class={relayStyles.wrapped} dir="auto">
                  {answer.answer_text}
                </p>
              )}
              <Line
                parts={[
                  text.type(ask.ask_type),
                  text.askState({ ...ask, ...answer }),
                  <bdi>{ask.step_id}</bdi>,
                  moment(ask.created_at),
                ]}
              />
            </div>
          </li>
        ))}
      </ol>
      <MoreOf pages={pages} label={appText.more} />
    </Section>
  );
}

/** The events of a job, the newest first. Each new event reads the job above again. */
function Events({ job }: { job: Job }) {
  const [begin] = useState(job.seq);
  const [live, setLive] = useState<readonly JobEvent[]>([]);
  const history = api.useHistory(job.job_id);
  const newest = history.rows?.[0]?.seq ?? 0;
  // Events that the list holds by now are shown from the list.
  useEffect(() => setLive((known) => known.filter(({ seq }) => seq > newest)), [newest]);
  api.useStream(api.eventsPath(job.job_id, begin), {
    onEvent(event, data, seq) {
      if (seq <= (live[0]?.seq ?? newest)) return;
      setLive((known) => [{ seq, event, data } as JobEvent, ...known]);
      if (live.length >= MOST_LIVE) void api.refreshRelay("history", job.job_id);
      if (seq > job.seq) void api.refreshRelay("job", job.job_id);
    },
    isOver: () => api.isOver(job.state),
  });
  const events = [...live.filter(({ seq }) => seq > newest), ...(history.rows ?? [])];
  return (
    <Section title={text.jobs.events}>
      {history.rows && events.length === 0 && <p class="muted">{text.jobs.noEvents}</p>}
      <ol class={styles.entries}>
        {events.map((one) => (
          <li key={`${one.seq} ${one.event}`}>
            <div>
              <p dir="auto">{saysOf(one)}</p>
              <Line parts={[<bdi>{one.event}</bdi>, moment(Number(one.data["at"]))]} />
            </div>
          </li>
        ))}
      </ol>
      <MoreOf pages={{ ...history, rows: events }} />
    </Section>
  );
}

function saysOf({ event, data }: JobEvent): string {
  const word = (name: string): string => (typeof data[name] === "string" ? data[name] : "");
  if (event === "log") return [word("event"), word("message")].filter((part) => part !== "").join(": ");
  if (event === "answer") return `${word("step_id")}: ${text.status(word("status") as AskStatus)}`;
  return text.jobState(word("state") as JobState);
}
