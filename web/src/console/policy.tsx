import { useState } from "preact/hooks";
import { announce } from "../parts/announcer.tsx";
import { Loading } from "../parts/notice.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { useTitle } from "../title.ts";
import styles from "./console.module.css";
import { moment } from "../moment.ts";
import {
  ActionButton,
  ConfirmButton,
  Facts,
  Problem,
  Section,
  SelectField,
  ServerSays,
  TextField,
  useAction,
} from "./parts.tsx";
import { later } from "../parts/later.tsx";
import { Trial } from "./replay.tsx";
import { useNames } from "./queries.ts";
import * as api from "./relay/api.ts";
import { Block, Line, MoreOf } from "./relay/parts.tsx";
import { text } from "./relay/text.ts";
import type { Grant, Policy, PolicyWords, Proposal, Rule } from "./relay/wire.ts";

const ASK_TYPES = ["CLARIFICATION", "RESOURCE_FETCH", "POLICY_DECISION", "APPROVAL", "CHOICE"] as const;

/** Loaded by itself: most who read the rules do not edit them. */
const RuleEditor = later(
  async () => (await import("./rule-editor.tsx")).RuleEditor,
  () => Loading({ rows: 2 }),
);

/** The policy: what agents may do without asking, proposed rules, permanent permissions, and a way to try it. */
export function PolicyPage() {
  useTitle(text.policy.title);
  const { data, error, refetch } = api.usePolicy();
  const reload = useAction(async () => {
    await api.reloadPolicy();
    announce(text.policy.reloaded);
    await api.refreshRelay("policy");
  });
  if (error && !data) return <Trouble title={text.policy.failed} error={error} onTryAgain={() => void refetch()} />;
  if (!data) return <Loading rows={4} />;
  return (
    <section class={styles.console}>
      <h1>{text.policy.title}</h1>
      <p class={data.state === "stale" ? styles.alarm : undefined}>
        {data.state === "stale" && data.text === null ? text.policy.neverRead : text.policy.state[data.state]}
      </p>
      {data.problem !== null && (
        <p class={styles.alarm}>
          <ServerSays words={data.problem} />
        </p>
      )}
      <Facts facts={[[text.policy.version, <code>{data.policy_version}</code>]]} />
      <div class={styles.actions}>
        <ActionButton action={reload} label={text.policy.reload} />
      </div>
      <Proposals />
      <Rules policy={data} />
      <RuleEditor />
      <Grants />
      <Tester />
      {data.text !== null && <Trial file={data.text} />}
      {data.text !== null && (
        <Section title={text.policy.file}>
          <Block label={text.policy.file} words={data.text} />
        </Section>
      )}
    </section>
  );
}

function Proposals() {
  const pages = api.useProposals();
  return (
    <Section title={text.policy.proposals}>
      {pages.error && !pages.rows && <Problem error={pages.error} />}
      {pages.rows?.length === 0 && <p class="muted">{text.policy.noProposals}</p>}
      <ul>
        {pages.rows?.map((one) => (
          <li key={one.id}>
            <OneProposal of={one} />
          </li>
        ))}
      </ul>
      <MoreOf pages={pages} />
    </Section>
  );
}

function Grants() {
  const pages = api.useGrants();
  return (
    <Section title={text.policy.grants}>
      {pages.error && !pages.rows && <Problem error={pages.error} />}
      {pages.rows?.length === 0 && <p class="muted">{text.policy.noGrants}</p>}
      <ul class={styles.entries}>
        {pages.rows?.map((one) => (
          <li key={one.id}>
            <OneGrant of={one} />
          </li>
        ))}
      </ul>
      <MoreOf pages={pages} />
    </Section>
  );
}

function Rules({ policy: { rules, defaults } }: { policy: Policy }) {
  return (
    <Section title={text.policy.rules}>
      {rules.length === 0 && <p class="muted">{text.policy.noRules}</p>}
      <ol class={styles.entries}>
        {rules.map((rule) => (
          <li key={rule.rule}>
            <OneRule of={rule} />
          </li>
        ))}
      </ol>
      <p class="muted">{text.policy.defaults(defaults.read, defaults.other)}</p>
    </Section>
  );
}

function OneRule({ of: { rule, decision, about, reason, to, need, spared, observed, learned, idle } }: { of: Rule }) {
  const revoke = useAction(async () => {
    await api.revokeRule(rule);
    announce(text.policy.revoked);
    await api.refreshRelay("policy");
  });
  return (
    <>
      <div>
        <p>
          {observed === null ? text.policy.decision(decision) : text.policy.would(decision)}:{" "}
          <ServerSays words={about} />
        </p>
        {reason !== null && (
          <p class="small" dir="auto">
            {reason}
          </p>
        )}
        <Line
          parts={[
            <bdi>{rule}</bdi>,
            learned ? text.policy.learned : null,
            observed === null ? text.policy.spared(spared) : text.policy.observed(observed),
            to === null ? null : text.policy.asks(to),
            need > 1 ? text.policy.needs(need) : null,
          ]}
        />
        {idle !== null && (
          <p class={`small ${styles.alarm}`}>
            <ServerSays words={idle} />
          </p>
        )}
      </div>
      {learned && (
        <ConfirmButton
          label={text.policy.revoke(rule)}
          title={text.policy.revoking(rule)}
          hint={text.policy.revokeRuleHint}
          confirm={text.policy.confirm}
          action={revoke}
        />
      )}
    </>
  );
}

function OneProposal({ of: { id, rule, approvals, diff } }: { of: Proposal }) {
  const decide = useAction(async (verb: "accept" | "dismiss") => {
    await api.decideProposal(id, verb);
    announce(verb === "accept" ? text.policy.accepted : text.policy.dismissed);
    await api.refreshRelay("policy");
  });
  return (
    <article class={styles.section}>
      <h3 dir="auto">{rule}</h3>
      <p class="muted">{text.policy.proposed(approvals)}</p>
      {diff !== undefined && <Block label={text.policy.diff(rule)} words={diff} />}
      <div class={styles.actions}>
        <button type="button" class="primary" aria-disabled={decide.isBusy} onClick={() => void decide.run("accept")}>
          {text.policy.accept}
          <span class="unseen">
            {" "}
            (<bdi>{rule}</bdi>)
          </span>
        </button>
        <button type="button" aria-disabled={decide.isBusy} onClick={() => void decide.run("dismiss")}>
          {text.policy.dismiss}
          <span class="unseen">
            {" "}
            (<bdi>{rule}</bdi>)
          </span>
        </button>
        <Problem error={decide.error} />
      </div>
    </article>
  );
}

function OneGrant({ of: one }: { of: Grant }) {
  const nameOf = useNames();
  const { action, resource, env, tool, repo, agent, digest, covers } = one;
  const asked = digest === null ? [resource, env, tool, repo] : [digest];
  const about = covers ?? [action, ...asked, agent].filter((part) => part !== null && part !== "").join(", ");
  const revoke = useAction(async () => {
    await api.revokeGrant(one.id);
    announce(text.policy.revoked);
    await api.refreshRelay("policy");
  });
  return (
    <>
      <div>
        <p dir="auto">{about}</p>
        <Line
          parts={[
            text.policy.grantedBy(nameOf(one.by) ?? one.by),
            text.policy.spared(one.spared),
            `${text.policy.until} ${moment(one.expires_at)}`,
          ]}
        />
      </div>
      {/* People are asked again from then on: a wrong press costs a question. */}
      <ActionButton action={revoke} label={text.policy.revoke(about)} kind="alarm" />
    </>
  );
}

function Tester() {
  const [words, setWords] = useState<PolicyWords>({});
  const [explanation, setExplanation] = useState<readonly string[] | null>(null);
  const look = useAction(async () => {
    setExplanation(null);
    const given = Object.entries(words).filter(([, value]) => value.trim() !== "");
    setExplanation((await api.tryPolicy(Object.fromEntries(given))).words);
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void look.run();
  };
  return (
    <Section title={text.policy.test}>
      <p class="muted">{text.policy.testHint}</p>
      <form class={styles.filter} onSubmit={submit}>
        {(["action", "resource", "env", "tool", "repo", "agent", "fn", "digest"] as const).map((name) => (
          <TextField
            key={name}
            label={text.policy.fields[name]}
            value={words[name] ?? ""}
            onInput={(value) => setWords({ ...words, [name]: value })}
          />
        ))}
        <SelectField
          label={text.policy.fields.ask_type}
          value={words.ask_type ?? ""}
          options={[
            { value: "", label: text.policy.any },
            ...ASK_TYPES.map((value) => ({ value: value as string, label: text.type(value) })),
          ]}
          onChoose={(value) => setWords({ ...words, ask_type: value })}
        />
        <div class={styles.actions}>
          <button type="submit" class="primary" aria-disabled={look.isBusy}>
            {text.policy.run}
          </button>
        </div>
      </form>
      <Problem error={look.error} />
      <div role="status">{explanation && <Block label={text.policy.result} words={explanation.join("\n")} />}</div>
    </Section>
  );
}
