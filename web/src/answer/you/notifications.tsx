import { useState } from "preact/hooks";
import { announce } from "../../parts/announcer.tsx";
import { pushInterval, pushState, turnOffPush, turnOnPush } from "../../push.ts";
import { text as youText } from "./text.ts";
import styles from "./me.module.css";

/** Whether, and how often, this device receives notices of new questions. */
export function Notifications() {
  const [state, setState] = useState(pushState);
  const [minutes, setMinutes] = useState(pushInterval);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(false);

  const attempt = async (work: () => Promise<void>): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setFailed(false);
    try {
      await work();
    } catch {
      setFailed(true);
    }
    setState(pushState());
    setBusy(false);
  };
  const chooseInterval = (chosen: number): void => {
    setMinutes(chosen);
    if (state === "on") void attempt(() => turnOnPush(chosen).then(() => announce(youText.notifications.saved)));
  };

  const words = youText.notifications;
  if (state === "unsupported") return <p class="muted">{words.unsupported}</p>;
  return (
    <>
      <p class="muted">{state === "denied" ? words.denied : words.lead}</p>
      {state !== "denied" && (
        <>
          <div class={styles.field}>
            <label for="interval">{words.interval}</label>
            <select
              id="interval"
              value={minutes}
              onChange={(event) => chooseInterval(Number(event.currentTarget.value))}
            >
              {words.intervals.map((one) => (
                <option key={one} value={one}>
                  {words.minutes(one)}
                </option>
              ))}
            </select>
          </div>
          <div class={styles.field}>
            {state === "on" ? (
              <button type="button" onClick={() => void attempt(turnOffPush)}>
                {words.turnOff}
              </button>
            ) : (
              <button type="button" onClick={() => void attempt(() => turnOnPush(minutes))}>
                {words.turnOn}
              </button>
            )}
            <span class="muted">{state === "on" ? words.on : words.off}</span>
          </div>
        </>
      )}
      {failed && <p role="alert">{words.failed}</p>}
    </>
  );
}
