import { ParleyError } from "@parley/sdk/errors";
import { useEffect, useState } from "preact/hooks";
import { besideList } from "../filter.ts";
import { author } from "../author.ts";
import { Link, useLocation } from "../router.tsx";
import questionStyles from "../answer/question.module.css";
import formStyles from "../answer/answer-form.module.css";
import { announce } from "../parts/announcer.tsx";
import { useDeliberate } from "../parts/deliberate.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Loading, Notice } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { codeOf } from "../queries.ts";
import { queries, useQuery } from "../query/query.ts";
import { useInboxTitle } from "./queries.ts";
import { inbox } from "./api.ts";
import { Arguments } from "./arguments/arguments.tsx";
import askStyles from "./ask.module.css";
import styles from "./batch.module.css";
import { Calls } from "./batch-table.tsx";
import { text } from "./batch-text.ts";
import { useCardKeys } from "./card-keys.ts";
import { Comment, ConfirmForm } from "./confirm-parts.tsx";
import { explain } from "./decide.ts";
import { placeOfBatch } from "./entries.ts";
import { FreezesOf } from "./freezes.tsx";
import barStyles from "./form.module.css";
import { pressed } from "./pressed.ts";
import { text as inboxText } from "./text.ts";
import type { Batch, BatchedCall } from "./wire.ts";

/** True of a call that may be decided with others. */
const isFree = ({ alone }: BatchedCall): boolean => alone === null;
/** True of a call that stands out of the others; the highest amount alone does not. */
const isOdd = ({ marks }: BatchedCall): boolean => marks.some(({ kind }) => kind !== "highest");
/** True of a call that stands first, and is not ticked before somebody ticks it. */
const isStriking = (call: BatchedCall): boolean => isOdd(call) || call.risk === "high";
const isPlain = (call: BatchedCall): boolean => isFree(call) && !isStriking(call);

/** The tables as they were left: who opens a card finds them with their ticks after it. */
const tables = new Map<string, { shown: Batch; ticks: ReadonlyMap<string, boolean> }>();

/**
 * The waiting calls of one agent and function as they were when they were opened, or last shown: what comes in later
 * waits, so that it changes neither the table nor the ticks.
 */
function useShown(id: string) {
  const { data, error, refetch } = useQuery({
    queryKey: ["batch", id],
    queryFn: ({ signal }) => inbox.batch(id, { signal }),
  });
  const name = `${author()} ${id}`;
  const [left] = useState(() => {
    const before = tables.get(name);
    return data && before?.shown.calls.some((one) => data.calls.some((call) => call.id === one.id)) ? before : null;
  });
  const [shown, setShown] = useState<Batch | null>(left?.shown ?? null);
  const [ticks, setTicks] = useState<ReadonlyMap<string, boolean>>(left?.ticks ?? new Map<string, boolean>());
  useEffect(() => {
    if (shown) tables.set(name, { shown, ticks });
    else tables.delete(name);
  }, [shown, ticks]);
  const show = (batch: Batch): void => {
    // Beside calls that come in, one that stood out may stand out no more: it is not ticked by that.
    setTicks(new Map(shown?.calls.map((call) => [call.id, ticks.get(call.id) ?? isPlain(call)])));
    // Nobody scrolls for what stands out.
    const [odd, plain] = [batch.calls.filter(isStriking), batch.calls.filter((call) => !isStriking(call))];
    setShown({ ...batch, calls: [...odd, ...plain] });
  };
  useEffect(() => {
    if (data && data.calls.length > 0 && !shown) show(data);
  }, [data, shown]);
  const isNone = codeOf(error) === "NOT_FOUND";
  const waiting = new Set(isNone ? [] : data?.calls.map((call) => call.id));
  const known = new Set(shown?.calls.map((call) => call.id));
  const isTicked = (call: BatchedCall): boolean =>
    waiting.has(call.id) && isFree(call) && (ticks.get(call.id) ?? isPlain(call));
  const tick = (calls: readonly BatchedCall[], on: boolean): void =>
    setTicks(new Map([...ticks, ...calls.map((call) => [call.id, on] as const)]));
  const arrived = isNone ? [] : (data?.calls.filter((call) => !known.has(call.id)) ?? []);
  const showArrived = (): void => data && show(data);
  /** Takes out what was decided; nothing of the rest becomes ticked by that. */
  const takeOut = (decided: readonly BatchedCall[]): void => {
    const rest = shown?.calls.filter((call) => waiting.has(call.id) && !decided.includes(call)) ?? [];
    setShown(shown && rest.length > 0 ? { ...shown, calls: rest } : null);
    setTicks(new Map(rest.map((call) => [call.id, false])));
    const ids = new Set(decided.map((call) => call.id));
    queries.setQueryData<Batch>(["batch", id], (batch) => {
      return batch && { ...batch, calls: batch.calls.filter((call) => !ids.has(call.id)) };
    });
  };
  return { shown, waiting, isTicked, tick, arrived, showArrived, takeOut, isNone, error, refetch };
}

/** Several calls of one agent and function beside one another, to be decided by one press; `next` is opened after them. */
export function BatchOfCalls({ id, next }: { id: string; next: string | undefined }) {
  const table = useShown(id);
  const { shown, waiting, isTicked, tick, arrived, isNone } = table;
  useInboxTitle(shown ? text.title(shown.calls.length, shown.fn) : inboxText.title);
  if (isNone && !shown) {
    return (
      <article class={`${questionStyles.frame} ${askStyles.frame}`} tabIndex={-1} data-focus>
        <Notice title={text.empty}>
          <Link href={besideList(next === undefined ? "/inbox" : `/inbox/${next}`)} class="button primary">
            {next === undefined ? inboxText.ask.toList : inboxText.ask.next}
          </Link>
        </Notice>
      </article>
    );
  }
  if (!shown) {
    return table.error && !isNone ? (
      <Trouble title={text.failed} error={table.error} onTryAgain={() => void table.refetch()} />
    ) : (
      <Loading rows={4} />
    );
  }
  const ticked = shown.calls.filter(isTicked);
  const left = shown.calls.filter((call) => waiting.has(call.id) && isFree(call) && !isPlain(call)).length;
  return (
    <article class={`${questionStyles.frame} ${askStyles.frame}`} tabIndex={-1} data-focus>
      <FreezesOf principal={shown.principal} />
      <header class={formStyles.header}>
        <p class={formStyles.facts}>
          <span>{inboxText.kinds.approval}</span>
          <bdi>{shown.agent}</bdi>
        </p>
        <h1 dir="auto">{text.title(shown.calls.length, shown.fn)}</h1>
        {left > 0 && <p>{text.left(left)}</p>}
      </header>
      <div class={askStyles.form}>
        {shown.arguments.length > 0 && <Arguments rows={shown.arguments} label={text.same} />}
        <Calls
          batch={shown}
          waiting={waiting}
          isTicked={isTicked}
          mayTick={(call) => waiting.has(call.id) && isFree(call)}
          onTick={tick}
        />
        {arrived.length > 0 && (
          <button type="button" onClick={table.showArrived}>
            {inboxText.new(arrived.length)}
          </button>
        )}
        {shown.more && <p class="muted">{text.more}</p>}
        <Bar id={id} batch={shown} ticked={ticked} next={next} onDecided={() => table.takeOut(ticked)} />
      </div>
    </article>
  );
}

/** A decision about several calls that somebody has to confirm. */
interface Intent {
  approve: boolean;
  calls: readonly BatchedCall[];
}

/** No and yes to what is ticked, under the thumb; each has a key. */
function Bar(props: {
  id: string;
  batch: Batch;
  ticked: readonly BatchedCall[];
  next: string | undefined;
  onDecided: () => void;
}) {
  const { id, batch, ticked } = props;
  const [intent, setIntent] = useState<Intent | null>();
  // A refused decision loses no words.
  const [comment, setComment] = useState("");
  const { decide, sending, refused } = useBatchDecision(props);
  const intend = (approve: boolean): void => {
    if (ticked.length === 0) return announce(text.tickFirst);
    setIntent({ approve, calls: ticked });
  };
  const hasKeys = useCardKeys(id, { a: () => intend(true), r: () => intend(false) });
  const button = (approve: boolean) => (
    <button
      type="button"
      class={approve ? askStyles.approve : "alarm"}
      aria-disabled={ticked.length === 0}
      aria-keyshortcuts={hasKeys ? (approve ? "a" : "r") : undefined}
      onClick={() => intend(approve)}
    >
      {approve ? text.approve(ticked.length) : text.reject(ticked.length)}
    </button>
  );
  return (
    <div class={barStyles.bar} aria-busy={sending}>
      {refused !== null && (
        <p role="alert" class={askStyles.alert} dir="auto">
          {refused}
        </p>
      )}
      <div class={askStyles.decide}>
        {button(false)}
        {button(true)}
      </div>
      {intent !== undefined && (
        <Dialog title={titleOf(batch, intent)} open={intent !== null} onClose={() => setIntent(null)}>
          {intent && (
            <ConfirmAll
              batch={batch}
              intent={intent}
              comment={comment}
              onComment={setComment}
              onClose={() => setIntent(null)}
              onDecide={decide}
            />
          )}
        </Dialog>
      )}
    </div>
  );
}

function titleOf({ fn }: Batch, intent: Intent | null): string {
  if (intent === null) return "";
  return intent.approve ? text.approveTitle(intent.calls.length, fn) : text.rejectTitle(intent.calls.length, fn);
}

/** Sends the decision about several calls; one that is refused decides none of them, and says which call it was. */
function useBatchDecision({
  id,
  batch,
  next,
  onDecided,
}: {
  id: string;
  batch: Batch;
  next: string | undefined;
  onDecided: () => void;
}) {
  const [, go] = useLocation();
  const [sending, setSending] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const send = async ({ approve: approved, calls }: Intent, comment: string): Promise<void> => {
    if (sending) return;
    setSending(true);
    setRefused(null);
    try {
      const { calls: after } = await inbox.decideBatch({
        approved,
        ...(comment.trim() !== "" && { comment }),
        calls: calls.map(({ id, digest }) => ({ id, digest })),
      });
      const says = text.done(calls.length, approved);
      const held = after.filter((one) => one.until !== null);
      const until = Math.min(...held.map((one) => Date.parse(one.until ?? "")));
      if (held.length > 0) pressed.set({ ids: held.map((one) => one.id), place: placeOfBatch(id), says, until });
      else announce(says);
      const isAll = batch.calls.length === calls.length && !batch.more;
      onDecided();
      if (isAll) go(besideList(next === undefined ? "/inbox" : `/inbox/${next}`), { replace: true });
    } catch (error) {
      const { says } = explain(error);
      const id = error instanceof ParleyError ? (error.details as { ask_id?: string }).ask_id : undefined;
      const call = batch.calls.find((one) => one.id === id);
      setRefused(call ? `${says} ${text.noneDecided(call.sentence)}` : says);
    }
    void queries.invalidateQueries({ queryKey: ["inbox"] });
    void queries.invalidateQueries({ queryKey: ["batch"] });
    setSending(false);
  };
  return { decide: (intent: Intent, comment: string) => void send(intent, comment), sending, refused };
}

/** The sheet on which several calls are approved or rejected at last: how many, what stands out of them, a comment. */
function ConfirmAll(props: {
  batch: Batch;
  intent: Intent;
  comment: string;
  onComment: (words: string) => void;
  onClose: () => void;
  onDecide: (intent: Intent, comment: string) => void;
}) {
  const { batch, intent, comment, onClose } = props;
  const deliberate = useDeliberate(intent);
  const { approve: approves, calls } = intent;
  const odd = calls.filter(isStriking);
  return (
    <ConfirmForm
      approves={approves}
      isGrave={approves && calls.some(({ risk }) => risk === "high")}
      name={batch.fn}
      lead={approves ? text.approveLead(batch.agent) : text.rejectLead}
      label={approves ? text.approve(calls.length) : text.reject(calls.length)}
      isAtEnd={approves}
      deliberate={deliberate}
      onClose={onClose}
      onDecide={() => props.onDecide(intent, comment)}
      about={approves && odd.length > 0 && <Odd calls={odd} />}
    >
      {(send) => (
        <Comment approves={approves} isFirst={!approves} value={comment} onChange={props.onComment} onSend={send} />
      )}
    </ConfirmForm>
  );
}

/** The calls that are approved with the rest although they stand out, or have a high risk. */
function Odd({ calls }: { calls: readonly BatchedCall[] }) {
  return (
    <>
      <p>{text.odd(calls.length)}</p>
      <ul class={styles.odds}>
        {calls.map(({ id, sentence }) => (
          <li key={id}>
            <bdi>{sentence}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}
