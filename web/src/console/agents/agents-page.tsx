import type { AgentState, LastPrompt } from "@parley/sdk/admin";
import { serverNow } from "../../api.ts";
import { ago } from "../../format.ts";
import { Copyable } from "../../parts/copyable.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/notice.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { useTitle } from "../../title.ts";
import styles from "../console.module.css";
import { Section } from "../parts.tsx";
import { useAgents } from "../queries.ts";
import { AskingAgents } from "./asking-agents.tsx";
import { useAskingAgents } from "./queries.ts";
import overviewStyles from "../overview/overview.module.css";
import { text } from "../overview/text.ts";

/** Every program that asks, and the coding agents of the server's computer with the last prompt of each. */
export function AgentsPage() {
  useTitle(text.agents.title);
  const { data, error, refetch } = useAgents();
  const asking = useAskingAgents();
  if (error && !data) return <Trouble title={text.agents.failed} error={error} onTryAgain={() => void refetch()} />;
  // Both lists come at once, so that neither moves the other.
  if (!data || (!asking.agents && !asking.error)) return <Loading rows={6} />;
  const here = data.filter((one) => one.here);
  const elsewhere = data.filter((one) => !one.here && one.last_prompt !== null);
  const missing = here.filter(({ hook }) => hook === false).map(({ agent }) => agent);
  return (
    <section class={styles.console}>
      <header>
        <h1>{text.agents.title}</h1>
      </header>
      <AskingAgents />
      <Section title={text.agents.here}>
        <p>{text.agents.says(data)}</p>
        <p class="muted">{text.agents.whose}</p>
        {here.length > 0 && <Agents agents={here} />}
      </Section>
      {(missing.length > 0 || here.length === 0) && (
        <Section title={text.agents.connect}>
          <p class="muted">{here.length === 0 ? text.agents.connectThere : text.agents.connectHere}</p>
          <Copyable label={text.agents.command} words={["parley connect", ...missing].join(" ")} />
        </Section>
      )}
      {elsewhere.length > 0 && (
        <Section title={text.agents.elsewhere}>
          <Agents agents={elsewhere} />
        </Section>
      )}
    </section>
  );
}

function Agents({ agents }: { agents: readonly AgentState[] }) {
  return (
    <ul class={overviewStyles.pages}>
      {agents.map(({ agent, title, here, hook, last_prompt: prompt }) => (
        <li key={agent}>
          <div class={overviewStyles.page}>
            <span class={overviewStyles.label}>{title}</span>
            {here && (
              <span class={overviewStyles.step} data-done={hook || undefined}>
                {hook && <Icon name="check" />}
                {text.agents.hook(hook)}
              </span>
            )}
            {prompt ? <Prompt prompt={prompt} /> : <span class={overviewStyles.says}>{text.agents.noPrompt}</span>}
          </div>
        </li>
      ))}
    </ul>
  );
}

function Prompt({ prompt }: { prompt: LastPrompt }) {
  const since = ago(Math.max(0, serverNow() - Date.parse(prompt.at)));
  return (
    <span class={overviewStyles.says}>
      {text.agents.prompt(prompt, since)} <bdi>{prompt.sentence}</bdi>
    </span>
  );
}
