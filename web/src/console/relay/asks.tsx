import { Link } from "../../router.tsx";
import { CallOutcome } from "../../inbox/call-outcome.tsx";
import { Loading } from "../../parts/notice.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { Entries } from "../audit.tsx";
import styles from "../console.module.css";
import type { PageProps } from "../page-props.ts";
import { moment } from "../../moment.ts";
import { Detail, Facts, Moment, Section, ServerSays, Sides, Unread, useEvery } from "../parts.tsx";
import { useChoice } from "../use-choice.ts";
import * as api from "./api.ts";
import { Paged, askRow, Block, Line, MoreOf, Output, To } from "./parts.tsx";
import relayStyles from "./relay.module.css";
import { text } from "./text.ts";
import type { Answer, WholeAsk, WithPeople } from "./wire.ts";
import { text as consoleText } from "../text.ts";
import { text as appText } from "../../text.ts";

const BASE = "/console/asks";
const LOOK_EVERY_MS = 2000;

/** The asks of executors, and the whole life of one ask. */
export function AsksPage({ item }: PageProps) {
  const choice = useChoice<api.AskFilter>(["all", "open"]);
  const { rows: asks, error, refetch, hasNextPage, fetchNextPage } = api.useAskList(choice.which);
  if (error && !asks) return <Trouble title={text.asks.failed} error={error} onTryAgain={() => void refetch()} />;
  const list = (
    <Paged
      words={text.asks}
      choice={choice}
      rows={asks?.map(askRow)}
      base={BASE}
      item={item}
      hasNextPage={hasNextPage}
      fetchNextPage={fetchNextPage}
    />
  );
  return <Sides list={list} detail={item === undefined ? undefined : <OneAsk key={item} id={item} />} />;
}

function OneAsk({ id }: { id: string }) {
  const { data, error, refetch } = api.useWholeAsk(id);
  useEvery(LOOK_EVERY_MS, data?.status === "PENDING", () => void refetch());
  if (error && !data) {
    return <Unread error={error} title={text.asks.failed} to={BASE} onTryAgain={() => void refetch()} />;
  }
  if (!data) return <Loading rows={4} />;
  return (
    <Detail title={text.askState({ ...data, ...data.answer })}>
      <p class={relayStyles.prompt} dir="auto">
        {data.prompt}
      </p>
      <Facts
        facts={[
          [text.asks.kind, text.type(data.ask_type)],
          [text.asks.who, <bdi>{data.asked_by}</bdi>],
          [text.asks.job, <ToJob id={data.job_id} />],
          [text.asks.step, <bdi>{data.step_id}</bdi>],
          [text.asks.asked, <Moment time={data.created_at} />],
          [text.asks.deadline, <Moment time={data.expires_at} />],
          ...(data.role_id === undefined ? [] : [[text.asks.role, <bdi>{data.role_id}</bdi>] as const]),
          ...(data.joined_to === undefined
            ? []
            : [[text.asks.joined, <To of="asks" id={data.joined_to} name={data.prompt} />] as const]),
          ...(data.consent_digest === undefined
            ? []
            : [[text.asks.digest, <code>{data.consent_digest}</code>] as const]),
          ...(data.question_id === undefined ? [] : [[text.asks.public, <code>{data.question_id}</code>] as const]),
          [text.asks.id, <code>{data.ask_id}</code>],
        ]}
      />
      <Output
        label={text.asks.context}
        value={{ ...data.meta, ...(data.context_envelope && { context: data.context_envelope }) }}
      />
      <Stages of={data} />
      <Section title={text.asks.answer}>
        {data.answer ? <AnswerFacts of={data.answer} /> : <p class="muted">{text.asks.noAnswer}</p>}
      </Section>
      {data.outcome && (
        <CallOutcome agent={data.asked_by} end={{ ...data.outcome, at: new Date(data.outcome.at).toISOString() }} />
      )}
      {data.people && <People of={data.people} />}
      <Besides of={data} />
      <Section title={text.asks.record}>
        <Entries filter={{ ask_id: data.ask_id }} />
      </Section>
    </Detail>
  );
}

function ToJob({ id }: { id: string }) {
  const { data } = api.useJob(id);
  return <To of="jobs" id={id} name={data?.title ?? text.asks.job} />;
}

function Stages({ of: { stages = [] } }: { of: WholeAsk }) {
  return (
    <Section title={text.asks.stages}>
      {stages.length === 0 && <p class="muted">{text.asks.noStages}</p>}
      <ol class={styles.entries}>
        {stages.map(({ stage, outcome, ms }, at) => (
          <li key={at}>
            <div>
              <p>{text.stage(stage)}</p>
              <Line parts={[<ServerSays words={outcome} />, text.asks.took(ms)]} />
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** How an ask was answered, and on what grounds. */
export function AnswerFacts({ of: answer }: { of: Answer }) {
  return (
    <>
      {answer.answer_text !== undefined && (
        <p class={relayStyles.prompt} dir="auto">
          {answer.answer_text}
        </p>
      )}
      {answer.error !== undefined && (
        <p class={styles.alarm}>
          <ServerSays words={answer.error} />
        </p>
      )}
      {answer.ask_back !== undefined && (
        <p>
          {text.asks.askBack}: <bdi>{answer.ask_back}</bdi>
        </p>
      )}
      {answer.truncated && <p class="muted">{text.asks.truncated}</p>}
      <Line parts={[text.askState({ ...answer, stage: "people" }), moment(answer.created_at)]} />
      <Output label={text.asks.json} value={answer.answer_json} />
      <Output label={text.asks.trace} value={answer.policy_trace} />
      <Output label={text.asks.attestation} value={answer.attestation} />
      <Output label={text.asks.artifacts} value={answer.artifacts} />
    </>
  );
}

const channelOf = (channel: string): string => (consoleText.channelNames as Record<string, string>)[channel] ?? channel;

function People({ of: people }: { of: WithPeople }) {
  const named = (name: string | null): string => name ?? text.asks.somebody;
  return (
    <Section title={text.asks.people}>
      <ul class={styles.entries}>
        {people.may_answer.map(({ name, channel }, at) => (
          <li key={at}>
            <div>
              <p>{text.asks.asksWhom}</p>
              <Line parts={[text.asks.byChannel(name, channelOf(channel))]} />
            </div>
          </li>
        ))}
        {people.deliveries.map(({ channel, name, state, at }, index) => (
          <li key={index}>
            <div>
              <p>{text.asks.byChannel(name, channelOf(channel))}</p>
              <Line parts={[text.asks.delivery(state), moment(at)]} />
            </div>
          </li>
        ))}
        {people.decisions.map(({ by, approved, comment, at }, index) => (
          <li key={index}>
            <div>
              <p>{text.asks.decided(named(by.name), approved)}</p>
              {comment !== null && (
                <p class={relayStyles.wrapped} dir="auto">
                  {comment}
                </p>
              )}
              <Line parts={[<bdi>{by.via}</bdi>, moment(at)]} />
            </div>
          </li>
        ))}
      </ul>
      <div class={styles.actions}>
        <Link href={`/inbox/${people.id}`} class="button">
          {text.asks.inbox}
        </Link>
        {people.settled_at !== null && (
          <a href={api.receiptPath(people.id)} class="button" download={`${people.id}.jws`}>
            {text.asks.receipt}
          </a>
        )}
      </div>
    </Section>
  );
}

function Besides({ of }: { of: WholeAsk }) {
  return (
    <>
      {of.shared_by.length > 0 && <SharedBy of={of} />}
      {of.late.length > 0 && <Late of={of.ask_id} />}
    </>
  );
}

/** The asks that joined one, which ask the same. */
function SharedBy({ of: { ask_id: id, prompt } }: { of: WholeAsk }) {
  const pages = api.useSharedBy(id);
  return (
    <Section title={text.asks.sharedBy}>
      <ol class={styles.entries}>
        {pages.rows?.map((one) => (
          <li key={one}>
            <To of="asks" id={one} name={prompt} />
          </li>
        ))}
      </ol>
      <MoreOf pages={pages} label={appText.more} />
    </Section>
  );
}

function Late({ of }: { of: string }) {
  const pages = api.useLate(of);
  return (
    <Section title={text.asks.late}>
      <ol class={styles.entries}>
        {pages.rows?.map((one, at) => (
          <li key={at}>
            <div>
              {one.answer_text !== undefined && <Block label={text.asks.late} words={one.answer_text} dir="auto" />}
              <Line parts={[<bdi>{one.answered_by}</bdi>, text.status(one.status), moment(one.at)]} />
            </div>
          </li>
        ))}
      </ol>
      <MoreOf pages={pages} label={appText.more} />
    </Section>
  );
}
