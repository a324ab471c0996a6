import type { RecoveryCode } from "@parley/sdk/wire";
import { useState } from "preact/hooks";
import { people } from "../../api.ts";
import { day } from "../../format.ts";
import { announce } from "../../parts/announcer.tsx";
import { Copyable } from "../../parts/copyable.tsx";
import { isUnreachable } from "../../queries.ts";
import { queries } from "../../query/query.ts";
import { text as youText } from "./text.ts";
import styles from "./me.module.css";

/** Moves a participant from one browser to another. */
export function Recovery() {
  const [made, setMade] = useState<RecoveryCode>();
  const [typed, setTyped] = useState("");
  const [trouble, setTrouble] = useState("");
  const words = youText.recovery;

  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setTrouble("");
    try {
      await work();
    } catch (error) {
      setTrouble(isUnreachable(error) ? words.noConnection : words.failed);
    }
  };
  const redeem = async (): Promise<void> => {
    await people.redeemRecoveryCode(typed.trim());
    setTyped("");
    announce(words.redeemed);
    await queries.invalidateQueries();
  };

  return (
    <>
      <p class="muted">{words.lead}</p>
      {made ? (
        <>
          <Copyable label={words.yours} words={made.code} />
          <p class="muted">{words.until(day(made.expires_at))}</p>
        </>
      ) : (
        <div>
          <button type="button" onClick={() => void attempt(async () => setMade(await people.createRecoveryCode()))}>
            {words.make}
          </button>
        </div>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim()) void attempt(redeem);
        }}
      >
        <label for="recovery-code">{words.have}</label>
        <div class={styles.field}>
          <input
            id="recovery-code"
            type="text"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder={words.code}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <button type="submit">{words.redeem}</button>
        </div>
      </form>
      {trouble && <p role="alert">{trouble}</p>}
    </>
  );
}
