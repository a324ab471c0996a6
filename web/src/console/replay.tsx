import { useState } from "preact/hooks";
import { copy } from "../parts/copyable.tsx";
import { Link } from "../router.tsx";
import { moment } from "../moment.ts";
import { text as shell } from "../text.ts";
import styles from "./console.module.css";
import { ActionButton, Section, SelectField, TextField, useAction } from "./parts.tsx";
import * as api from "./relay/api.ts";
import { receiptPath } from "./relay/api.ts";
import { Line } from "./relay/parts.tsx";
import { text } from "./relay/text.ts";
import { Suggested } from "./suggested.tsx";
import type { PolicyReplayed } from "./relay/wire.ts";

const DAY_S = 86_400;
const PERIODS = { "1": DAY_S, "7": 7 * DAY_S, "30": 30 * DAY_S } as const;
type Days = keyof typeof PERIODS;

/** Proposes rules for a policy file, and tries the file on recorded calls before it is in force. */
export function Trial({ file }: { file: string }) {
  const [words, setWords] = useState(file);
  return (
    <>
      <Suggested file={file} onTake={setWords} />
      <Replay words={words} onInput={setWords} />
    </>
  );
}

/** Shows how a policy file would decide the calls of the last days. */
function Replay({ words, onInput }: { words: string; onInput: (words: string) => void }) {
  const [days, setDays] = useState<Days>("7");
  const [replayed, setReplayed] = useState<PolicyReplayed | null>(null);
  const look = useAction(async () => {
    setReplayed(null);
    setReplayed(await api.replayPolicy({ text: words, since_s: PERIODS[days] }));
  });
  return (
    <Section title={text.replay.title}>
      <p class="muted">{text.replay.hint}</p>
      <TextField label={text.replay.file} value={words} rows={10} onInput={onInput} />
      <SelectField
        label={text.replay.since}
        value={days}
        options={(Object.keys(PERIODS) as Days[]).map((value) => ({ value, label: text.replay.days(Number(value)) }))}
        onChoose={setDays}
      />
      <div class={styles.actions}>
        <ActionButton action={look} label={look.isBusy ? text.replay.looking : text.replay.run} kind="primary" />
        <button type="button" class="quiet" onClick={() => void copy(words)}>
          {shell.copy}
          <span class="unseen"> {text.replay.file}</span>
        </button>
      </div>
      <div role="status">{replayed && <Result of={replayed} />}</div>
    </Section>
  );
}

function Result({ of }: { of: PolicyReplayed }) {
  const { contradictions, newest, rules } = of;
  const allowedAgainst = contradictions.filter(({ decision }) => decision === "ALLOW").length;
  return (
    <>
      <p>
        <b>{text.replay.counts(of)}</b>
      </p>
      {of.more && <p class="muted">{text.replay.more(of.calls)}</p>}
      <p class={allowedAgainst > 0 ? styles.alarm : undefined}>
        {text.replay.contradictions(allowedAgainst, contradictions.length - allowedAgainst)}
      </p>
      <ul class={styles.entries}>
        {contradictions.map((one) => (
          <li key={one.ask_id}>
            <Call of={one} href={receiptPath(one.ask_id)} isPage />
          </li>
        ))}
      </ul>
      <details>
        <summary>{text.replay.rules}</summary>
        <ul class={styles.entries}>
          {rules.map(({ rule, calls, changed }) => (
            <li key={rule}>
              <Line
                parts={[
                  <bdi>{rule}</bdi>,
                  text.replay.matches(calls),
                  changed === undefined ? null : text.replay.changes(changed),
                ]}
              />
            </li>
          ))}
        </ul>
      </details>
      <details>
        <summary>{text.replay.newest}</summary>
        <ul class={styles.entries}>
          {newest.map((one) => (
            <li key={one.ask_id}>
              <Call of={one} href={`/console/audit?ask_id=${encodeURIComponent(one.ask_id)}`} />
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

/** One call with the decision of the policy; it opens its receipt, which is a page of the server, or its record. */
function Call(props: { of: PolicyReplayed["newest"][number]; href: string; isPage?: boolean }) {
  const { of, href, isPage = false } = props;
  const title = <bdi>{of.title}</bdi>;
  return (
    <div>
      <p>{isPage ? <a href={href}>{title}</a> : <Link href={href}>{title}</Link>}</p>
      <Line
        parts={[
          text.policy.decision(of.decision),
          <bdi>{of.rule}</bdi>,
          <bdi>{of.agent.slice(of.agent.indexOf(":") + 1)}</bdi>,
          moment(of.created_at),
        ]}
      />
    </div>
  );
}
