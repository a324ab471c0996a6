import { useState } from "preact/hooks";
import { people } from "../../api.ts";
import { announce } from "../../parts/announcer.tsx";
import { codeOf } from "../../queries.ts";
import { queries } from "../../query/query.ts";
import styles from "./me.module.css";
import { text as youText } from "./text.ts";

/** Chooses, changes or removes the name under which one is shown on the leaderboard. */
export function BoardName({ name }: { name: string | null }) {
  const [typed, setTyped] = useState(name ?? "");
  const [trouble, setTrouble] = useState("");
  const words = youText.leaderboard;

  const choose = async (wanted: string | null): Promise<void> => {
    setTrouble("");
    try {
      await people.chooseLeaderboardName(wanted);
      announce(wanted === null ? words.nameDropped : words.nameSaved);
      await queries.invalidateQueries({ queryKey: ["leaderboard"] });
    } catch (error) {
      const code = codeOf(error);
      const isUnfit = code === "VALIDATION_ERROR";
      setTrouble(code === "NAME_TAKEN" ? words.nameTaken : isUnfit ? words.nameUnfit : words.nameFailed);
    }
  };

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void choose(typed);
      }}
    >
      <label for="board-name">{words.name}</label>
      <p id="board-name-hint" class="muted">
        {words.nameHint}
      </p>
      <div class={styles.field}>
        <input
          id="board-name"
          type="text"
          dir="auto"
          autocomplete="nickname"
          maxlength={24}
          aria-describedby={trouble ? "board-name-trouble board-name-hint" : "board-name-hint"}
          aria-invalid={trouble !== ""}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit">{words.saveName}</button>
        {name !== null && (
          <button type="button" class="quiet" onClick={() => void choose(null)}>
            {words.dropName}
          </button>
        )}
      </div>
      {trouble && (
        <p id="board-name-trouble" role="alert">
          {trouble}
        </p>
      )}
    </form>
  );
}
