import { useState } from "preact/hooks";
import { hasKeyboard } from "../keys.ts";
import { useDeliberate } from "../parts/deliberate.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { useQuery } from "../query/query.ts";
import styles from "./ask.module.css";
import { inbox } from "./api.ts";
import { Grants } from "./alike.tsx";
import { Comment, ConfirmForm } from "./confirm-parts.tsx";
import { Changes } from "./arguments/changes.tsx";
import { approval, explain, rejection } from "./decide.ts";
import { type AskDraft, wordsBeside } from "./draft.ts";
import { editedArguments } from "./arguments/edit-arguments.tsx";
import { ReadyAnswers } from "./reply.tsx";
import { text } from "./text.ts";
import type { AskOption, EditedCall, Granted, NewDecision, WholeAsk } from "./wire.ts";

/** The decision that somebody has to confirm; the press that began it was on one half of the screen, where the thumb is. */
export interface Intent {
  approve: boolean;
  isAtEnd: boolean;
}

interface Sheet {
  ask: WholeAsk;
  draft: AskDraft;
  onChange: (part: AskDraft) => void;
  onClose: () => void;
  onDecide: (decision: NewDecision) => void;
}

/** The sheet on which a call is approved or rejected at last, with a comment. */
export function Confirm({ intent, ...sheet }: Sheet & { intent: Intent | null }) {
  const fn = nameOf(sheet.ask);
  const title = intent?.approve === false ? text.rejectTitle(fn) : text.approveTitle(fn);
  return (
    <Dialog title={title} open={intent !== null} onClose={sheet.onClose}>
      {intent && <Deciding intent={intent} {...sheet} />}
    </Dialog>
  );
}

const leadOf = ({ agent }: WholeAsk, kwargs: string | null): string =>
  kwargs === null ? text.approveLead(agent) : text.approveEditedLead(agent);

const nameOf = (ask: WholeAsk): string => ask.fn ?? ask.title;

function Deciding({ ask, intent, draft, onChange, onClose, onDecide }: Sheet & { intent: Intent }) {
  const approves = intent.approve;
  const kwargs = approves ? editedArguments(ask, draft).text : null;
  const { edited, error, deliberate } = useEdited(ask, kwargs, intent);
  const [granted, setGranted] = useState<Granted>({});
  const isGrave = approves && (edited ?? ask).risk === "high";
  const option = ask.options.find(({ name }) => name === draft.option);
  const comment = (words: string): void => onChange({ comment: words });
  return (
    <ConfirmForm
      approves={approves}
      isGrave={isGrave}
      name={nameOf(ask)}
      lead={approves ? leadOf(ask, kwargs) : text.rejectLead}
      label={!approves ? text.reject : kwargs === null ? text.approve : text.approveEdited}
      isAtEnd={intent.isAtEnd}
      deliberate={deliberate}
      onClose={onClose}
      onDecide={() => onDecide(approves ? approval(ask, draft, { kwargs, granted }) : rejection(ask, draft, option))}
      about={<Said ask={ask} edited={edited} error={kwargs === null ? null : error} isGrave={isGrave} />}
    >
      {(send) => (
        <>
          {!approves && <Ways ask={ask} draft={draft} chosen={option} onChange={onChange} />}
          <Comment
            approves={approves}
            // A screen's own keyboard would cover the ways to reject.
            isFirst={!approves && (hasKeyboard || ask.options.length === 0)}
            value={draft.comment ?? ""}
            onChange={comment}
            onSend={send}
          />
          {!approves && !ask.editable && ask.kwargs !== null && (
            <button type="button" class="quiet" onClick={() => comment(withArguments(draft, ask.kwargs ?? ""))}>
              {text.otherArguments}
            </button>
          )}
          {approves && kwargs === null && <Grants ask={ask} onChange={setGranted} />}
        </>
      )}
    </ConfirmForm>
  );
}

/** The call with the arguments that were changed, and presses that count half a second after it is on screen. */
function useEdited(ask: WholeAsk, kwargs: string | null, intent: Intent) {
  const { data: edited = null, error } = useQuery({
    queryKey: ["ask", ask.id, "edited", kwargs],
    queryFn: ({ signal }) => (kwargs === null ? null : inbox.edited(ask.id, kwargs, { signal })),
  });
  const shown = kwargs === null ? intent : edited;
  const onScreen = useDeliberate(shown);
  const deliberate = shown ? onScreen : { ...onScreen, settled: false, isDeliberate: () => false };
  return { edited, error, deliberate };
}

/** The sentence of the call that would run, and what differs in it from the agent's. */
function Said(props: { ask: WholeAsk; edited: EditedCall | null; error: unknown; isGrave: boolean }) {
  const { ask, edited, error, isGrave } = props;
  return (
    <>
      <p class={isGrave ? styles.grave : undefined} dir="auto">
        {isGrave && <Icon name="warning" />}
        <bdi class={styles.sentence}>{(edited ?? ask).sentence}</bdi>
      </p>
      {edited && <Changes before={ask.arguments ?? []} after={edited.arguments} />}
      {error !== null && (
        <p role="alert" class={styles.alert} dir="auto">
          {explain(error).says}
        </p>
      )}
    </>
  );
}

/** The agent's own ways to reject: one is chosen by a press, and sent with the rest. */
function Ways(props: {
  ask: WholeAsk;
  draft: AskDraft;
  chosen: AskOption | undefined;
  onChange: (part: AskDraft) => void;
}) {
  const { ask, draft, chosen } = props;
  if (ask.options.length === 0) return null;
  const choose = (one: AskOption): void => {
    const next = one === chosen ? undefined : one;
    props.onChange({ option: next?.name, comment: wordsBeside(next, ask.options, draft.comment) });
  };
  return <ReadyAnswers legend={text.rejectWays} options={ask.options} chosen={chosen?.name} onChoose={choose} />;
}

/** The agent allows no other arguments, so the reason holds them; there it reads them as JSON. */
const withArguments = ({ comment = "" }: AskDraft, kwargs: string): string =>
  comment.includes("{") ? comment : `${comment.trim()}${comment.trim() ? "\n\n" : ""}${kwargs}`;
