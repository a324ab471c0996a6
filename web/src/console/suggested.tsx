import { useState } from "preact/hooks";
import styles from "./console.module.css";
import { ActionButton, CheckField, Section, ServerSays, useAction } from "./parts.tsx";
import * as api from "./relay/api.ts";
import { Block } from "./relay/parts.tsx";
import { text } from "./relay/text.ts";
import type { PolicySuggested } from "./relay/wire.ts";
import { withRules } from "./rules-added.ts";

const MONTH_S = 30 * 86_400;

/** Shows the rules that the decisions of people speak for, and gives the file with the ticked ones to be tried. */
export function Suggested({ file, onTake }: { file: string; onTake: (words: string) => void }) {
  const [found, setFound] = useState<PolicySuggested | null>(null);
  const [unticked, setUnticked] = useState<readonly string[]>([]);
  const [isTaken, setTaken] = useState(false);
  const look = useAction(async () => {
    setFound(null);
    setUnticked([]);
    setTaken(false);
    setFound(await api.suggestRules({ since_s: MONTH_S }));
  });
  const ticked = found?.rules.filter(({ id }) => !unticked.includes(id)) ?? [];
  const take = (): void => {
    onTake(withRules(file, ticked));
    setTaken(true);
  };
  return (
    <Section title={text.suggest.title}>
      <p class="muted">{text.suggest.hint}</p>
      <div class={styles.actions}>
        <ActionButton action={look} label={look.isBusy ? text.replay.looking : text.suggest.run} />
      </div>
      <div role="status">
        {found && <p>{found.learn_after === 0 ? text.suggest.off : text.suggest.counts(found)}</p>}
        {found?.more && <p class="muted">{text.replay.more(found.calls)}</p>}
      </div>
      <ul class={styles.entries}>
        {found?.rules.map((rule) => (
          <li key={rule.id}>
            <OneRule
              of={rule}
              isTicked={ticked.includes(rule)}
              onTick={(on) => setUnticked(on ? unticked.filter((id) => id !== rule.id) : [...unticked, rule.id])}
            />
          </li>
        ))}
      </ul>
      {ticked.length > 0 && (
        <div class={styles.actions}>
          <button type="button" class="primary" onClick={take}>
            {text.suggest.take}
          </button>
        </div>
      )}
      <p role="status">{isTaken && found && text.suggest.taken(found.file)}</p>
    </Section>
  );
}

function OneRule(props: {
  of: PolicySuggested["rules"][number];
  isTicked: boolean;
  onTick: (isTicked: boolean) => void;
}) {
  const { id, approved, examples, not_covered, lines } = props.of;
  return (
    <div>
      <CheckField label={id} checked={props.isTicked} onChange={props.onTick} hint={text.suggest.approved(approved)} />
      <Block label={id} words={lines.filter((line) => !/^ *#/.test(line)).join("\n")} />
      <Calls label={text.suggest.such} calls={examples} />
      <Calls label={text.suggest.notCovered} calls={not_covered} />
    </div>
  );
}

function Calls({ label, calls }: { label: string; calls: readonly string[] }) {
  if (calls.length === 0) return null;
  return (
    <p class="small">
      {label} <ServerSays words={calls.join("; ")} />
    </p>
  );
}
