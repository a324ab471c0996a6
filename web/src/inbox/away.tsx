import type { Away } from "@parley/sdk/inbox";
import { useState } from "preact/hooks";
import { serverNow } from "../api.ts";
import { day } from "../format.ts";
import { announce } from "../parts/announcer.tsx";
import { Loading } from "../parts/notice.tsx";
import { queries, useQuery } from "../query/query.ts";
import { inbox } from "./api.ts";
import styles from "./away.module.css";
import { text } from "./away-text.ts";

const DAY_MS = 86_400_000;
const LONGEST_DAYS = 365;

/** Whether the person is away. */
const useAway = () => useQuery({ queryKey: ["away"], queryFn: ({ signal }) => inbox.away({ signal }) });

/** Sends a change of the absence, and says what came of it. */
function useChange() {
  const [failed, setFailed] = useState(false);
  const change = async (send: () => Promise<Away>, done: string): Promise<void> => {
    setFailed(false);
    try {
      queries.setQueryData(["away"], await send());
      announce(done);
    } catch {
      setFailed(true);
    }
  };
  const alert = failed && <p role="alert">{text.failed}</p>;
  return { change, alert };
}

/** Until when the person is away, with the way back; nothing while they are here. */
export function AwayNow() {
  const { data } = useAway();
  const { change, alert } = useChange();
  if (!data || data.until === null) return null;
  return (
    <div class={styles.now}>
      <p dir="auto">{text.away(day(data.until))}</p>
      <button type="button" onClick={() => void change(() => inbox.comeBack(), text.isBack)}>
        {text.back}
      </button>
      {alert}
    </div>
  );
}

/** Where the person says until when they are away, and who stands in. */
export function AwaySection() {
  const { data, error } = useAway();
  return (
    <section class={styles.section} id="away">
      <h2>{text.title}</h2>
      <p class="muted">{text.lead}</p>
      {error ? <p role="alert">{text.failed}</p> : data ? <AwayForm key={data.until} away={data} /> : <Loading />}
    </section>
  );
}

function AwayForm({ away }: { away: Away }) {
  const [until, setUntil] = useState(away.until === null ? "" : dateOf(Date.parse(away.until)));
  const [standIn, setStandIn] = useState(away.stand_in?.id ?? "");
  const { change, alert } = useChange();
  const { data } = useQuery({ queryKey: ["stand-ins"], queryFn: ({ signal }) => inbox.standIns({ signal }) });
  const near = data?.people ?? [];
  // Somebody who was chosen by a program may be none of them.
  const isNear = near.some(({ id }) => id === away.stand_in?.id);
  const people = away.stand_in === null || isNear ? near : [away.stand_in, ...near];

  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    const absence = { until: new Date(`${until}T00:00`).toISOString(), ...(standIn !== "" && { stand_in: standIn }) };
    await change(() => inbox.goAway(absence), text.saved);
  };
  return (
    <>
      <AwayNow />
      {away.stand_in && <p dir="auto">{text.standsIn(away.stand_in.name)}</p>}
      <form class={styles.form} onSubmit={(event) => void save(event)}>
        <label>
          {text.until}
          <input
            type="date"
            required
            min={dateOf(serverNow() + DAY_MS)}
            max={dateOf(serverNow() + LONGEST_DAYS * DAY_MS)}
            value={until}
            onInput={({ currentTarget }) => setUntil(currentTarget.value)}
          />
        </label>
        <label>
          {text.standIn}
          <select value={standIn} onChange={({ currentTarget }) => setStandIn(currentTarget.value)}>
            <option value="">{text.nobody}</option>
            {people.map(({ id, name, away_until: end }) => (
              <option key={id} value={id}>
                {end === null ? name : text.awayUntil(name, day(end))}
              </option>
            ))}
          </select>
        </label>
        {alert}
        <button type="submit" class="primary">
          {text.save}
        </button>
      </form>
    </>
  );
}

/** Returns the day at this place, as the field for it has it. */
function dateOf(time: number): string {
  const at = new Date(time);
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
