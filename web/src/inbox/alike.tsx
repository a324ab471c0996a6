import { useState } from "preact/hooks";
import { useQuery } from "../query/query.ts";
import styles from "./ask.module.css";
import { inbox } from "./api.ts";
import { explain } from "./decide.ts";
import { text } from "./text.ts";
import type { Granted, WholeAsk } from "./wire.ts";

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

/** For how long calls like one are allowed. A day ends at midnight, where the person is. */
const PERIODS = {
  session: () => DAY_S,
  hour: () => HOUR_S,
  today: () => Math.max(60, Math.ceil((new Date().setHours(24, 0, 0, 0) - Date.now()) / 1000)),
  week: () => 7 * DAY_S,
  month: () => 30 * DAY_S,
} as const;
type Period = keyof typeof PERIODS;

/** Lets an admin who approves allow more than this once: exactly this call for good, or calls like it for a time. */
export function Grants({ ask, onChange }: { ask: WholeAsk; onChange: (granted: Granted) => void }) {
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState<string>();
  const [period, setPeriod] = useState<Period>("hour");
  if (!ask.may_stand || ask.standing_until === null) return null;
  const choose = (pattern: string | undefined, during = period): void => {
    setChosen(pattern);
    setPeriod(during);
    const like = { pattern: pattern ?? "", for_s: PERIODS[during](), ...(during === "session" && { this_run: true }) };
    onChange(pattern === undefined ? {} : pattern === EXACT ? { standing: true } : { like });
  };
  return (
    <>
      <label class={styles.tick}>
        <input
          type="checkbox"
          checked={chosen === EXACT}
          onChange={(event) => choose(event.currentTarget.checked ? EXACT : undefined)}
        />
        <span>
          {text.alwaysAllow}
          <small class="muted">{text.alwaysAllowLead(ask.agent, ask.standing_until)}</small>
        </span>
      </label>
      {isOpen ? (
        <Patterns ask={ask} chosen={chosen} period={period} onChoose={choose} />
      ) : (
        <button type="button" class="quiet" onClick={() => setOpen(true)}>
          {text.allowLike}
        </button>
      )}
    </>
  );
}

const EXACT = "exact";

function Patterns(props: {
  ask: WholeAsk;
  chosen: string | undefined;
  period: Period;
  onChoose: (pattern: string | undefined, period?: Period) => void;
}) {
  const { ask, chosen, period, onChoose } = props;
  const { data, error } = useQuery({
    queryKey: ["alike", ask.id],
    queryFn: ({ signal }) => inbox.alike(ask.id, { signal }),
  });
  if (error) return <p role="alert">{explain(error).says}</p>;
  if (!data) return <p class="muted">{text.looking}</p>;
  const periods = (Object.keys(PERIODS) as Period[]).filter((one) => one !== "session" || data.has_run);
  if (data.patterns.length === 0) return <p class="muted">{text.nothingAlike}</p>;
  return (
    <fieldset class={styles.alike}>
      <legend>{text.allowLike}</legend>
      {data.patterns.map(({ id, says, covered }) => (
        <label key={id} class={styles.tick}>
          <input type="checkbox" checked={chosen === id} onChange={() => onChoose(chosen === id ? undefined : id)} />
          <span>
            <bdi>{says}</bdi>
            <small class="muted">{text.wouldHaveCovered(covered)}</small>
          </span>
        </label>
      ))}
      <label for="during">{text.forHowLong}</label>
      <select id="during" value={period} onChange={(event) => onChoose(chosen, event.currentTarget.value as Period)}>
        {periods.map((one) => (
          <option key={one} value={one}>
            {text.during[one]}
          </option>
        ))}
      </select>
      <p class="muted small">{text.alikeLead}</p>
    </fieldset>
  );
}
