import { useEffect, useRef, useState } from "preact/hooks";
import ownStyles from "./form.module.css";
import { later } from "../parts/later.tsx";
import { secretId } from "./arguments/arguments.tsx";
import { Call } from "./call.tsx";
import { isAtLineEnd, useCardKeys } from "./card-keys.ts";
import type { Intent } from "./confirm.tsx";
import { type Deciding, useDecide } from "./decide.ts";
import { useAskDraft, wordsBeside } from "./draft.ts";
import { EditArguments, type Edited, editedArguments, openEditor } from "./arguments/edit-arguments.tsx";
import { Approvals } from "./waiting.tsx";
import { Facts } from "./parts.tsx";
import styles from "./ask.module.css";
import { AgentRequestWords } from "./agent-request-words.tsx";
import { text } from "./text.ts";
import type { WholeAsk } from "./wire.ts";

/** It shows after a press, and is there by then. */
const Confirm = later(async () => (await import("./confirm.tsx")).Confirm);

/** An aid that is not waited for, nor missed. */
const Precedents = later(
  async () => (await import("./precedents.tsx")).Precedents,
  undefined,
  () => null,
);

/**
 * A call to be approved or rejected: the call comes first and whole, then who asks. The buttons that decide stay in
 * sight below, while the rest scrolls under them.
 */
export function Approval({ ask }: { ask: WholeAsk }) {
  const [draft, change] = useAskDraft(ask.id);
  const deciding = useDecide(ask.id);
  useEffect(() => void Confirm.load(), []);
  /** Null once the sheet was closed again: it stays on the page, and gives the focus back. */
  const [intent, setIntent] = useState<Intent | null>();
  const edited = editedArguments(ask, draft);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const unseen = (ask.arguments ?? []).find(({ name, secret }) => secret && !opened.has(name))?.name;
  const editor = useRef<HTMLDetailsElement>(null);
  const edit = (): void => openEditor(editor.current);

  const intend = (next: Intent): void => {
    // The words of a way to reject go with it; a yes has none.
    if (next.approve) change({ option: undefined, comment: wordsBeside(undefined, ask.options, draft.comment) });
    setIntent(next);
  };

  return (
    <div class={styles.form} aria-busy={deciding.sending}>
      <Call ask={ask} onOpen={(name) => setOpened((before) => new Set([...before, name]))} />
      <AgentRequestWords ask={ask} />
      <Facts ask={ask} />
      <Approvals ask={ask} />
      {ask.editable && (
        <EditArguments
          ask={ask}
          draft={draft}
          onChange={change}
          problems={problemsOf(deciding, edited)}
          element={editor}
        />
      )}
      {/* It comes late: here it pushes away nothing that is read. */}
      <Precedents id={ask.id} />
      <Bar
        id={ask.id}
        edited={edited}
        unseen={unseen}
        refused={deciding.refused?.says}
        onIntend={intend}
        onEdit={ask.editable ? edit : undefined}
      />
      {intent !== undefined && (
        <Confirm
          ask={ask}
          intent={intent}
          draft={draft}
          onChange={change}
          onClose={() => setIntent(null)}
          onDecide={(decision) => void deciding.send(decision)}
        />
      )}
    </div>
  );
}

const problemsOf = (deciding: Deciding, edited: Edited) => [
  ...(edited.problem === null ? [] : [{ path: "", message: edited.problem }]),
  ...(deciding.refused?.problems ?? []),
];

/** No, other arguments and yes, under the thumb; each has a key. */
function Bar(props: {
  id: string;
  edited: Edited;
  /** The name of an argument whose secret nobody has looked at yet: the call is not approved before. */
  unseen: string | undefined;
  /** Why the last decision was not taken. */
  refused: string | undefined;
  onIntend: (intent: Intent) => void;
  onEdit: (() => void) | undefined;
}) {
  const { edited, unseen, refused, onIntend, onEdit } = props;
  const [mustLook, setMustLook] = useState(false);
  const approve = (isAtEnd: boolean): void => {
    if (unseen !== undefined) {
      setMustLook(true);
      document.getElementById(secretId(unseen))?.querySelector("summary")?.focus();
      return;
    }
    if (edited.problem === null) return onIntend({ approve: true, isAtEnd });
    onEdit?.();
  };
  const reject = (isAtEnd: boolean): void => onIntend({ approve: false, isAtEnd });
  const hasKeys = useCardKeys(props.id, { a: () => approve(true), r: () => reject(false), e: onEdit });
  return (
    <div class={ownStyles.bar}>
      {refused !== undefined && (
        <p role="alert" class={styles.alert} dir="auto">
          {refused}
        </p>
      )}
      {mustLook && unseen !== undefined && (
        <p role="alert" class={styles.alert} dir="auto">
          {text.unseen(unseen)}
        </p>
      )}
      <div class={styles.decide}>
        <button
          type="button"
          class="alarm"
          onClick={(event) => reject(isAtLineEnd(event))}
          aria-keyshortcuts={hasKeys ? "r" : undefined}
        >
          {text.reject}
        </button>
        {onEdit && (
          <button type="button" onClick={onEdit} aria-keyshortcuts={hasKeys ? "e" : undefined}>
            {text.editShort}
          </button>
        )}
        <button
          type="button"
          class={styles.approve}
          onClick={(event) => approve(isAtLineEnd(event))}
          aria-keyshortcuts={hasKeys ? "a" : undefined}
          aria-disabled={edited.problem !== null || unseen !== undefined}
        >
          {edited.text === null ? text.approve : text.approveEdited}
        </button>
      </div>
    </div>
  );
}
