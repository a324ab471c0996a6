import { ParleyError } from "@parley/sdk/errors";
import { newKey } from "@parley/sdk/idempotency-key";
import type { ConversationMessage, OwnConversation } from "@parley/sdk/inbox";
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { Link, useLocation } from "../../router.tsx";
import formStyles from "../../answer/answer-form.module.css";
import questionStyles from "../../answer/question.module.css";
import { useKeys } from "../../keys.ts";
import { announce } from "../../parts/announcer.tsx";
import { Loading, Notice } from "../../parts/notice.tsx";
import { More } from "../../parts/more.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { codeOf } from "../../queries.ts";
import { useTitle } from "../../title.ts";
import styles from "../ask.module.css";
import { dropAskDraft, useAskDraft } from "../draft.ts";
import { Send, Written } from "../reply.tsx";
import { inbox } from "../api.ts";
import { keepTalk, useTalk, useTalks } from "./api.ts";
import talkStyles from "./talk.module.css";
import { talkPath } from "./path.ts";
import { Prose } from "../../parts/prose.tsx";
import { text } from "../text.ts";

const words = text.talk;

/** Begins a conversation: which agent, and the first words. */
export function NewTalk() {
  const { first, error, refetch } = useTalks();
  const [, go] = useLocation();
  const [chosen, choose] = useState<string | null>(null);
  useTitle(words.new);
  const points = first?.entry_points ?? [];
  const entry = points.find(({ name }) => name === chosen) ?? points[0];
  if (error) return <Trouble title={words.failed} error={error} onTryAgain={() => void refetch()} />;
  if (!first) return <Loading rows={3} />;
  if (!entry) return <Notice title={words.nobody} hint={words.nobodyHint} />;
  return (
    <article class={`${questionStyles.frame} ${styles.frame}`} tabIndex={-1} data-focus>
      <header class={formStyles.header}>
        <h1>{words.new}</h1>
      </header>
      <Composer
        draft="new"
        label={words.first}
        send={(sent) => inbox.beginConversation({ entry_point: entry.name, ...sent })}
        onSent={(talk) => go(talkPath(talk.id), { replace: true })}
      >
        <div class={formStyles.words}>
          <label for="entry">{words.with}</label>
          <select id="entry" value={entry.name} onChange={(event) => choose(event.currentTarget.value)}>
            {points.map(({ name, agent }) => (
              <option key={name} value={name}>
                {points.some((one) => one.name !== name && one.agent === agent) ? `${agent} (${name})` : agent}
              </option>
            ))}
          </select>
          {entry.about !== null && (
            <p class={formStyles.hint} dir="auto">
              {entry.about}
            </p>
          )}
        </div>
      </Composer>
    </article>
  );
}

/** One conversation from its beginning, and a place for more words at its end. */
export function Talk({ id }: { id: number }) {
  const { talk, error, refetch, hasNextPage, fetchNextPage } = useTalk(id);
  useTitle(talk ? words.title(talk.agent) : text.title);
  if (codeOf(error) === "NOT_FOUND") {
    return (
      <Notice title={text.ask.unknown} hint={words.unknownHint}>
        <Link href="/inbox" class="button primary">
          {text.ask.toList}
        </Link>
      </Notice>
    );
  }
  if (!talk)
    return error ? <Trouble title={words.failed} error={error} onTryAgain={() => void refetch()} /> : <Loading />;
  return (
    <article class={`${questionStyles.frame} ${styles.frame}`} tabIndex={-1} data-focus>
      <header class={formStyles.header}>
        <h1>{words.title(talk.agent)}</h1>
      </header>
      <More
        label={words.earlier}
        rows={talk.messages.length + talk.asks.length}
        isMore={hasNextPage}
        readOn={() => fetchNextPage({ throwOnError: true })}
        isAbove
      />
      <Messages talk={talk} />
      <Next talk={talk} />
    </article>
  );
}

/** The messages of a conversation in their order: one's own, and the agent's. */
function Messages({ talk }: { talk: OwnConversation }) {
  const own = talk.messages.map((one) => ({ at: one.at, id: one.id, one, ask: null }));
  const asked = talk.asks.map((ask) => ({ at: ask.created_at, id: ask.id, one: null, ask }));
  const all = [...own, ...asked].sort((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1));
  return (
    <ol class={talkStyles.messages} aria-label={words.log}>
      {all.map(({ id, one, ask }) =>
        one ? (
          <li key={id} class={talkStyles.mine}>
            <p class={talkStyles.who}>{words.me}</p>
            <p class={styles.prose} dir="auto">
              {one.text}
            </p>
            {one.taken && <p class={talkStyles.mark}>{words.taken}</p>}
          </li>
        ) : (
          <li key={id}>
            <p class={talkStyles.who}>{words.program(talk.agent)}</p>
            <Prose words={ask.kind === "approval" ? words.wants(ask.sentence) : ask.words} />
            <p class={talkStyles.mark}>
              {ask.state === "open" ? (
                <Link href={`/inbox/${ask.id}`}>{ask.kind === "approval" ? words.decide : words.answer}</Link>
              ) : (
                text.outcome(
                  ask,
                  ask.outcome?.by?.kind === "person" && ask.outcome.by.via !== "policy"
                    ? words.you
                    : text.who(ask.outcome?.by ?? null, false),
                )
              )}
            </p>
            {ask.outcome?.text != null && (
              <p class={styles.prose} dir="auto">
                {ask.outcome.text}
              </p>
            )}
          </li>
        ),
      )}
    </ol>
  );
}

/** More words: the answer to the one question that waits, or something new. */
function Next({ talk }: { talk: OwnConversation }) {
  const [only, ...others] = talk.waiting;
  if (only && (others.length > 0 || only.kind === "approval")) return <p class="muted">{words.decideFirst}</p>;
  if (!only && !talk.open) return <p class="muted">{words.closed}</p>;
  return (
    <Composer
      draft={`talk-${talk.id}`}
      label={only ? words.answerTo(only.title) : words.more}
      send={(sent) => inbox.say(talk.id, sent)}
    />
  );
}

function whyRefused(error: unknown): string {
  return error instanceof ParleyError && !error.isPassing ? text.state.failed(error.message) : words.unreachable;
}

/** Words and a way to send them; they are kept here until they have arrived. */
function Composer(props: {
  draft: string;
  label: string;
  send: (sent: ConversationMessage) => Promise<OwnConversation>;
  onSent?: (talk: OwnConversation) => void;
  children?: ComponentChildren;
}) {
  const [draft, change] = useAskDraft(props.draft);
  const [sending, setSending] = useState(false);
  const [refused, setRefused] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  const latest = useRef(draft.text);
  latest.current = draft.text;
  const tried = useRef<ConversationMessage | null>(null);
  useKeys({ Enter: () => form.current?.requestSubmit() });

  const submit = async (): Promise<void> => {
    const typed = draft.text?.trim() ?? "";
    if (sending) return;
    if (typed === "") form.current?.querySelector("textarea")?.focus();
    if (typed === "") return announce(words.writeFirst);
    if (tried.current?.text !== typed) tried.current = { text: typed, id: newKey() };
    setSending(true);
    setRefused(undefined);
    try {
      const talk = await props.send(tried.current);
      tried.current = null;
      // Words that were typed meanwhile stay.
      if (latest.current?.trim() === typed) {
        dropAskDraft(props.draft);
        change({ text: undefined });
      }
      keepTalk(talk);
      announce(text.state.sent);
      props.onSent?.(talk);
    } catch (error) {
      setRefused(whyRefused(error));
    }
    setSending(false);
  };

  return (
    <form
      ref={form}
      class={styles.form}
      aria-busy={sending}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {props.children}
      <Written
        label={props.label}
        value={draft.text ?? ""}
        onChange={(words) => change({ text: words })}
        onSend={() => void submit()}
      />
      <Send id={props.draft} refused={refused} sending={sending} />
    </form>
  );
}
