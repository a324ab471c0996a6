import type { Receivers } from "@parley/sdk/inbox";
import { useState } from "preact/hooks";
import { day } from "../format.ts";
import { announce } from "../parts/announcer.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Loading } from "../parts/notice.tsx";
import { queries, useQuery } from "../query/query.ts";
import { inbox } from "./api.ts";
import { useCardKeys } from "./card-keys.ts";
import { explain } from "./decide.ts";
import styles from "./hand-on.module.css";
import { text } from "./hand-on-text.ts";
import { handedBy } from "./parts.tsx";
import { decided, refresh } from "./queries.ts";
import { text as inboxText } from "./text.ts";
import type { WholeAsk } from "./wire.ts";

/** From so many receivers on, they can be searched. */
const SEARCHED_FROM = 9;
const LONGEST_NOTE = 1000;

type To = { person: string } | { group: string };

/** Hands a waiting ask on to others who may decide it; says who handed it to the person, or to whom they handed it. */
export function HandOn({ ask }: { ask: WholeAsk }) {
  /** The one to whom it goes back, where it is handed back. */
  const [isOpen, setOpen] = useState<"on" | "back">();
  const [failed, setFailed] = useState<string>();
  const { handed_by: by, handed_on: on } = ask;
  const canHandOn = on === null && ask.may_decide && ask.may_answer.some(({ me, many }) => !me || many);
  const open = (): void => setOpen("on");
  const hasKeys = useCardKeys(ask.id, canHandOn ? { h: open } : {});

  const takeBack = async (): Promise<void> => {
    setFailed(undefined);
    try {
      const after = await inbox.takeBack(ask.id);
      queries.setQueryData(["ask", ask.id], { ...ask, ...after });
      announce(text.isBack);
      refresh(ask.id);
    } catch (error) {
      setFailed(explain(error).says);
    }
  };

  return (
    <>
      {canHandOn && (
        <button
          type="button"
          class={`quiet ${styles.button}`}
          onClick={open}
          aria-keyshortcuts={hasKeys ? "h" : undefined}
        >
          {text.send}
        </button>
      )}
      {on ? (
        <div class={styles.line}>
          <p dir="auto">{inboxText.handedOn(on.to, on.note)}</p>
          <button type="button" onClick={() => void takeBack()}>
            {text.takeBack}
          </button>
          {failed !== undefined && <p role="alert">{failed}</p>}
        </div>
      ) : (
        by && (
          <div class={styles.line}>
            <p dir="auto">{handedBy(by)}</p>
            {canHandOn && by.away_until === null && (
              <button type="button" onClick={() => setOpen("back")}>
                {text.back}
              </button>
            )}
          </div>
        )
      )}
      <Dialog
        title={isOpen === "back" ? text.back : text.title}
        open={isOpen !== undefined}
        onClose={() => setOpen(undefined)}
      >
        {isOpen && <HandOnForm ask={ask} backTo={isOpen === "back" ? by : null} onDone={() => setOpen(undefined)} />}
      </Dialog>
    </>
  );
}

function HandOnForm(props: { ask: WholeAsk; backTo: WholeAsk["handed_by"]; onDone: () => void }) {
  const { ask, backTo, onDone } = props;
  const [to, setTo] = useState<To | null>(backTo && { person: backTo.id });
  const [note, setNote] = useState("");
  const [failed, setFailed] = useState<string>();
  const [sending, setSending] = useState(false);

  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (sending || !to) return;
    setSending(true);
    setFailed(undefined);
    try {
      const after = { ...ask, ...(await inbox.handOn(ask.id, { to, note })), snoozed_until: null };
      queries.setQueryData(["ask", ask.id], after);
      announce(text.done);
      onDone();
      decided.set(after);
      refresh(ask.id);
    } catch (error) {
      setFailed(explain(error).says);
      setSending(false);
    }
  };

  return (
    <form class={styles.form} aria-busy={sending} onSubmit={(event) => void send(event)}>
      {backTo ? <p dir="auto">{backTo.name}</p> : <p class="muted">{text.lead}</p>}
      {!backTo && <ReceiverList id={ask.id} to={to} onChoose={setTo} />}
      <label class={styles.field}>
        {text.note}
        <small class="muted">{text.noteHint}</small>
        <textarea
          rows={2}
          maxLength={LONGEST_NOTE}
          dir="auto"
          value={note}
          onInput={({ currentTarget }) => setNote(currentTarget.value)}
        />
      </label>
      {failed !== undefined && (
        <p role="alert" dir="auto">
          {failed}
        </p>
      )}
      <button type="submit" class="primary" disabled={!to}>
        {backTo ? text.back : text.send}
      </button>
    </form>
  );
}

/** Those to whom it may be handed, the groups first; they can be searched where there are many. */
function ReceiverList(props: { id: string; to: To | null; onChoose: (to: To) => void }) {
  const { id, to, onChoose } = props;
  const [sought, setSought] = useState("");
  const { data, error } = useQuery({
    queryKey: ["receivers", id],
    queryFn: ({ signal }) => inbox.receivers(id, { signal }),
    staleTime: 0,
  });
  if (error) return <p role="alert">{explain(error).says}</p>;
  if (!data) return <Loading rows={2} />;
  const all = receiversOf(data);
  if (all.length === 0) return <p>{text.nobody}</p>;
  const words = sought.trim().toLowerCase();
  return (
    <>
      {all.length >= SEARCHED_FROM && (
        <input
          type="search"
          aria-label={text.search}
          placeholder={text.search}
          value={sought}
          onInput={({ currentTarget }) => setSought(currentTarget.value)}
        />
      )}
      <fieldset class={styles.receivers}>
        <legend>{text.to}</legend>
        {all
          .filter(({ name }) => name.toLowerCase().includes(words))
          .map(({ key, name, to: one, awayUntil }) => (
            <label key={key}>
              <input
                type="radio"
                name="receiver"
                checked={to !== null && keyOf(to) === key}
                onChange={() => onChoose(one)}
              />
              <bdi>{name}</bdi>
              {awayUntil !== null && <small class="muted">{text.away(day(awayUntil))}</small>}
            </label>
          ))}
      </fieldset>
    </>
  );
}

const keyOf = (to: To): string => ("person" in to ? `person ${to.person}` : `group ${to.group}`);

interface Receiver {
  key: string;
  name: string;
  to: To;
  awayUntil: string | null;
}

function receiversOf({ people, groups }: Receivers): Receiver[] {
  return [
    ...groups.map((group) => ({ name: text.group(group), to: { group }, awayUntil: null })),
    ...people.map(({ id, name, away_until: awayUntil }) => ({ name, to: { person: id }, awayUntil })),
  ].map((one) => ({ ...one, key: keyOf(one.to) }));
}
