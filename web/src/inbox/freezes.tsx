import type { Freezes, NewFreeze } from "@parley/sdk/inbox";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { isolated } from "../format.ts";
import { locale } from "../language.ts";
import { moment } from "../moment.ts";
import { announce } from "../parts/announcer.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { useQuery } from "../query/query.ts";
import { inbox } from "./api.ts";
import { useCardKeys } from "./card-keys.ts";
import { explain } from "./decide.ts";
import styles from "./freezes.module.css";
import { text } from "./freezes-text.ts";
import handOnStyles from "./hand-on.module.css";
import { refresh } from "./queries.ts";
import type { WholeAsk } from "./wire.ts";

const LONGEST_REASON = 500;

type Freeze = Freezes["freezes"][number];

const clocks = new Intl.DateTimeFormat(locale, { timeStyle: "short" });

/** Returns the time of day of a moment of today, else its day too. */
function sinceOf(at: string): string {
  const time = new Date(at);
  return time.toDateString() === new Date().toDateString() ? clocks.format(time) : moment(at);
}

/** Returns the name of an agent; one without a key keeps what says so. */
const nameOf = (principal: string): string => principal.replace(/^(?:agent|executor|assign):/, "");

/** True where a freeze covers an agent: by its name, or as one whose asks the person sees. */
const covers = ({ scope, agent, principals }: Freeze, principal: string): boolean =>
  scope === "all" || agent === principal || principals.includes(principal);

/** The freezes in force that concern the person; they are read again with the inbox. */
const useFreezes = () => useQuery({ queryKey: ["freezes"], queryFn: ({ signal }) => inbox.freezes({ signal }) });

/** The freezes of all that the person sees, each with the way to thaw it; nothing while nothing is frozen. */
export function FreezesNow() {
  const { data } = useFreezes();
  return <Lines of={data} />;
}

/** The freezes that cover one agent. */
export function FreezesOf({ principal }: { principal: string }) {
  const { data } = useFreezes();
  return <Lines of={data?.filter((freeze) => covers(freeze, principal))} />;
}

function Lines({ of }: { of: readonly Freeze[] | undefined }) {
  if (!of || of.length === 0) return null;
  return (
    <ul class={styles.freezes} data-freezes>
      {of.map((freeze) => (
        <li key={freeze.id} class={styles.line}>
          <div>
            <p dir="auto">{saidOf(freeze)}</p>
            {freeze.reason !== null && (
              <p class="small muted" dir="auto">
                {text.reason(freeze.reason)}
              </p>
            )}
          </div>
          {freeze.may_thaw && <Thaw freeze={freeze} />}
        </li>
      ))}
    </ul>
  );
}

function saidOf({ scope, agent, person_name: person, at, by_name: name }: Freeze): string {
  const [since, by] = [sinceOf(at), isolated(name)];
  if (scope === "all") return text.all(since, by);
  return scope === "agent"
    ? text.agent(isolated(nameOf(agent ?? "")), since, by)
    : text.person(isolated(person ?? ""), since, by);
}

/** Thaws after one more question. */
function Thaw({ freeze }: { freeze: Freeze }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {text.thaw}
      </button>
      <Dialog title={text.thawTitle} open={isOpen} onClose={() => setOpen(false)}>
        {isOpen && (
          <Change label={text.thaw} done={text.thawed} send={() => inbox.thaw(freeze.id)} onDone={() => setOpen(false)}>
            <p dir="auto">{saidOf(freeze)}</p>
            <p>{text.thawLead}</p>
          </Change>
        )}
      </Dialog>
    </>
  );
}

/** Freezes the agent of a card; where it is frozen by its name already, there is nothing to do. */
export function FreezeAgent({ ask }: { ask: WholeAsk }) {
  const [isOpen, setOpen] = useState(false);
  const { data } = useFreezes();
  const can = data?.every(({ agent }) => agent !== ask.principal) === true;
  const hasKeys = useCardKeys(ask.id, can ? { f: () => setOpen(true) } : {});
  if (!can) return null;
  return (
    <>
      <button
        type="button"
        class={`quiet ${handOnStyles.button}`}
        onClick={() => setOpen(true)}
        aria-keyshortcuts={hasKeys ? "f" : undefined}
      >
        {text.freezeAgent}
      </button>
      <FreezeDialog
        title={text.freezeAgentTitle(isolated(ask.agent))}
        lead={text.freezeAgentLead}
        what={{ scope: "agent", agent: ask.principal }}
        open={isOpen}
        onClose={() => setOpen(false)}
      />
    </>
  );
}

/** Freezes an agent by its principal, after one more question. */
export function FreezePrincipal({ principal, name }: { principal: string; name: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class="quiet"
        onClick={() => setOpen(true)}
        aria-label={text.freezeAgentTitle(isolated(name))}
      >
        {text.freeze}
      </button>
      <FreezeDialog
        title={text.freezeAgentTitle(isolated(name))}
        lead={text.freezeAgentLead}
        what={{ scope: "agent", agent: principal }}
        open={isOpen}
        onClose={() => setOpen(false)}
      />
    </>
  );
}

/** Freezes everything, after one more question. */
function FreezeAll() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="alarm" onClick={() => setOpen(true)}>
        {text.freezeAll}
      </button>
      <FreezeDialog
        title={text.freezeAllTitle}
        lead={text.freezeAllLead}
        what={{ scope: "all" }}
        open={isOpen}
        onClose={() => setOpen(false)}
      />
    </>
  );
}

function FreezeDialog(props: { title: string; lead: string; what: NewFreeze; open: boolean; onClose: () => void }) {
  const { title, lead, what, open, onClose } = props;
  const [reason, setReason] = useState("");
  return (
    <Dialog title={title} open={open} onClose={onClose}>
      {open && (
        <Change label={text.freeze} done={text.frozen} send={() => inbox.freeze({ ...what, reason })} onDone={onClose}>
          <p>{lead}</p>
          <label class={handOnStyles.field}>
            {text.why}
            <textarea
              rows={2}
              maxLength={LONGEST_REASON}
              dir="auto"
              value={reason}
              onInput={({ currentTarget }) => setReason(currentTarget.value)}
            />
          </label>
        </Change>
      )}
    </Dialog>
  );
}

/** The form that changes what is frozen; a refusal stays in it. */
function Change(props: {
  label: string;
  done: string;
  send: () => Promise<unknown>;
  onDone: () => void;
  children: ComponentChildren;
}) {
  const [failed, setFailed] = useState<string>();
  const [sending, setSending] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (sending) return;
    setSending(true);
    setFailed(undefined);
    try {
      await props.send();
      announce(props.done);
      props.onDone();
      refresh(null);
    } catch (error) {
      setFailed(explain(error).says);
      setSending(false);
    }
  };
  return (
    <form class={handOnStyles.form} aria-busy={sending} onSubmit={(event) => void submit(event)}>
      {props.children}
      {failed !== undefined && (
        <p role="alert" dir="auto">
          {failed}
        </p>
      )}
      <button type="submit" class="primary">
        {props.label}
      </button>
    </form>
  );
}

/** The freezes as the console shows them, with the way to stop everything at once. */
export function FreezesSection() {
  const { data, error } = useFreezes();
  const isAll = data?.some(({ scope }) => scope === "all") === true;
  return (
    <section class={styles.freezes}>
      <h2>{text.title}</h2>
      {error && !data ? <p role="alert">{text.failed}</p> : data?.length === 0 && <p class="muted">{text.none}</p>}
      <Lines of={data} />
      {data && !isAll && (
        <div>
          <FreezeAll />
        </div>
      )}
    </section>
  );
}
