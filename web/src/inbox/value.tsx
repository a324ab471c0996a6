import { useMemo, useRef, useState } from "preact/hooks";
import { announce } from "../parts/announcer.tsx";
import styles from "./ask.module.css";
import { useDecide } from "./decide.ts";
import { useAskDraft } from "./draft.ts";
import { Facts } from "./parts.tsx";
import { NextTime, Send, Written } from "./reply.tsx";
import { SchemaForm } from "./schema-form.tsx";
import { type Field, fieldOf, filledWith, type Problem, valueOf } from "./schema.ts";
import { text } from "./text.ts";
import type { WholeAsk } from "./wire.ts";

const JSON_FIELD: Field = {
  kind: "json",
  title: undefined,
  description: undefined,
  nullable: false,
  initial: undefined,
};

/** A value to be filled in: a form as the schema says, JSON for whoever prefers it, plain words where there is no schema. */
export function Value({ ask }: { ask: WholeAsk }) {
  const { schema } = ask;
  const [draft, change] = useAskDraft(ask.id);
  const { send, sending, refused } = useDecide(ask.id);
  const field = useMemo(() => fieldOf(schema ?? true), [ask.id]);
  const filled = draft.filled ?? filledWith(field);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const form = useRef<HTMLFormElement>(null);
  const [again, setAgain] = useState(false);
  const more = again ? { same_next_time: again } : {};
  const asJson = draft.json !== undefined || field.kind === "json";

  const submit = (): void => {
    if (schema === null)
      return draft.text?.trim() ? void send({ text: draft.text, ...more }) : announce(text.answerFirst);
    const read = asJson ? valueOf(JSON_FIELD, draft.json ?? "") : valueOf(field, filled);
    setProblems(read.problems);
    if (read.problems.length === 0) return void send({ value: read.value, ...more });
    announce(text.form.check(read.problems.length));
    focusOn(form.current, read.problems[0]?.path ?? "");
  };
  const shown = problems.length > 0 ? problems : (refused?.problems ?? []);
  const toJson = (): void => {
    setProblems([]);
    change({ json: JSON.stringify(valueOf(field, filled).value ?? {}, null, 2) });
  };

  return (
    <form
      ref={form}
      class={styles.form}
      noValidate
      aria-busy={sending}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {schema === null ? (
        <Written
          label={text.yourAnswer}
          value={draft.text ?? ""}
          onChange={(words) => change({ text: words })}
          onSend={submit}
        />
      ) : asJson ? (
        <SchemaForm
          field={{ ...JSON_FIELD, title: field.title, description: field.description }}
          value={draft.json ?? ""}
          problems={shown.map((one) => ({ path: "", message: `${one.path} ${one.message}`.trim() }))}
          onChange={(json) => change({ json: String(json) })}
        />
      ) : (
        <SchemaForm field={field} value={filled} problems={shown} onChange={(value) => change({ filled: value })} />
      )}
      {schema !== null && field.kind !== "json" && (
        <div>
          <button
            type="button"
            class={`quiet ${styles.swap}`}
            onClick={() => (asJson ? change({ json: undefined }) : toJson())}
          >
            {asJson ? text.form.asForm : text.form.asJson}
          </button>
        </div>
      )}
      <Facts ask={ask} />
      <NextTime ask={ask} on={again} onChange={setAgain} />
      <Send refused={refused?.says} sending={sending} />
    </form>
  );
}

/** The first field with a problem, or the first of the group that has one. */
function focusOn(form: HTMLFormElement | null, path: string): void {
  const found = form?.querySelector<HTMLElement>(`[id="${CSS.escape(`value${path}`)}"]`);
  const inner = found?.matches("fieldset") ? found.querySelector<HTMLElement>("input, select, textarea") : found;
  inner?.focus();
}
