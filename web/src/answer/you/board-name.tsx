import { useRef, useState } from "preact/hooks";
import { people } from "../../api.ts";
import { announce } from "../../parts/announcer.tsx";
import { codeOf } from "../../queries.ts";
import { queries } from "../../query/query.ts";
import styles from "./me.module.css";
import { text as youText } from "./text.ts";

const words = youText.leaderboard;

/** Chooses, changes or removes the name under which one is shown on the leaderboard. */
export function BoardName({ name }: { name: string | null }) {
  /** The words in the field, while they are not the name itself. */
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? name ?? "";
  const save = useRef<HTMLButtonElement>(null);
  const [trouble, setTrouble] = useState("");

  const choose = async (wanted: string | null): Promise<void> => {
    setTrouble("");
    const before = typed;
    try {
      await people.chooseLeaderboardName(wanted);
      announce(wanted === null ? words.nameDropped : words.nameSaved);
      await queries.invalidateQueries({ queryKey: ["leaderboard"] });
      // Words that were typed meanwhile stay.
      setTyped((now) => (now === before ? null : now));
      // The button that was pressed has gone with the name.
      if (wanted === null) save.current?.focus();
    } catch (error) {
      setTrouble(refusal(error));
    }
  };

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void choose(shown);
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
          value={shown}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button ref={save} type="submit">
          {words.saveName}
        </button>
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

/** Says why a name was not taken. */
function refusal(error: unknown): string {
  const code = codeOf(error);
  if (code === "NAME_TAKEN") return words.nameTaken;
  return code === "VALIDATION_ERROR" ? words.nameUnfit : words.nameFailed;
}
