import type { LineComment, TaskReview as NewReview } from "@parley/sdk/tasks";
import { useState } from "preact/hooks";
import { draftsOfAuthor } from "../../author.ts";
import { recall, remember } from "../../device.ts";
import { useKeys } from "../../keys.ts";
import { announce } from "../../parts/announcer.tsx";
import { useDeliberate } from "../../parts/deliberate.ts";
import { Dialog } from "../../parts/dialog.tsx";
import styles from "../console.module.css";
import { Field, Problem, Section, TextField, useAction } from "../parts.tsx";
import { TaskChanges } from "./changes.tsx";
import { text } from "./text.ts";
import taskStyles from "./tasks.module.css";

type ReviewDecision = NewReview["verdict"];

interface Draft {
  comment: string;
  comments: LineComment[];
}

/** The work under review, and how its decision is sent. */
export interface Reviewed {
  repo: string;
  id: string;
  attempt: number;
  /** Where its changes are. */
  diffPath: string;
  hasBoth: boolean;
  send: (review: NewReview) => Promise<void>;
}

const DECISIONS: readonly { decision: ReviewDecision; key: "a" | "c" | "r"; kind: string }[] = [
  { decision: "approve", key: "a", kind: "primary" },
  { decision: "request_changes", key: "c", kind: "" },
  { decision: "reject", key: "r", kind: "alarm" },
];

/**
 * Finished work, and the three decisions about it, each confirmed first. Comments are kept on this device until one of
 * them is sent.
 */
export function TaskReview({ of }: { of: Reviewed }) {
  const [draft, change] = useDraft(of);
  const [decision, setDecision] = useState<ReviewDecision | null>(null);
  const [place, setPlace] = useState<{ path: string; line: number | undefined } | null>(null);
  const send = useAction(async (chosen: ReviewDecision) => {
    const comment = draft.comment.trim();
    const more = {
      ...(comment !== "" && { comment }),
      ...(draft.comments.length > 0 && { comments: draft.comments }),
    };
    await of.send({ verdict: chosen, attempt: of.attempt, ...more });
    setDecision(null);
    change({ comment: "", comments: [] });
  });

  return (
    <>
      <Section title={text.diff.title}>
        <TaskChanges
          path={of.diffPath}
          attempt={of.attempt}
          hasBoth={of.hasBoth}
          comments={draft.comments}
          onComment={(path, line) => setPlace({ path, line })}
          onRemove={(comment) => change({ ...draft, comments: draft.comments.filter((one) => one !== comment) })}
        />
      </Section>
      <Section title={text.review.title}>
        {draft.comments.length > 0 && <p role="status">{text.review.remarks(draft.comments.length)}</p>}
        <DecisionButtons onChoose={setDecision} />
      </Section>
      <Confirm
        decision={decision}
        draft={draft}
        error={send.error}
        isBusy={send.isBusy}
        onComment={(comment) => change({ ...draft, comment })}
        onClose={() => setDecision(null)}
        onConfirm={() => {
          if (!decision) return;
          const hasWords = draft.comment.trim() !== "" || draft.comments.length > 0;
          if (decision === "request_changes" && !hasWords) return announce(text.review.wanted);
          void send.run(decision);
        }}
      />
      <CommentOn
        place={place}
        onClose={() => setPlace(null)}
        onAdd={(comment) => {
          change({ ...draft, comments: [...draft.comments, comment] });
          setPlace(null);
        }}
      />
    </>
  );
}

/** A button and a key for each of them. */
function DecisionButtons({ onChoose }: { onChoose: (decision: ReviewDecision) => void }) {
  useKeys(Object.fromEntries(DECISIONS.map(({ decision, key }) => [key, () => onChoose(decision)])));
  return (
    <div class={taskStyles.decisions}>
      {DECISIONS.map(({ decision, key, kind }) => (
        <button key={decision} type="button" class={kind} aria-keyshortcuts={key} onClick={() => onChoose(decision)}>
          {text.review[decision]}
        </button>
      ))}
    </div>
  );
}

function useDraft({ repo, id, attempt }: Reviewed): [Draft, (draft: Draft) => void] {
  const name = `${draftsOfAuthor()}review.${repo}/${id}/${attempt}`;
  const [draft, setDraft] = useState<Draft>(() => {
    try {
      return { comment: "", comments: [], ...(JSON.parse(recall(name) ?? "{}") as Partial<Draft>) };
    } catch {
      return { comment: "", comments: [] };
    }
  });
  const change = (next: Draft): void => {
    const isEmpty = next.comment === "" && next.comments.length === 0;
    remember(name, isEmpty ? null : JSON.stringify(next));
    setDraft(next);
  };
  return [draft, change];
}

function Confirm(props: {
  decision: ReviewDecision | null;
  draft: Draft;
  error: unknown;
  isBusy: boolean;
  onComment: (comment: string) => void;
  onClose: () => void;
  onConfirm: () => void;
}) {
  const { decision, draft } = props;
  const kind = DECISIONS.find((one) => one.decision === decision)?.kind ?? "";
  const deliberate = useDeliberate(decision);
  const isWanted = decision === "request_changes" && draft.comments.length === 0;
  return (
    <Dialog title={decision ? text.review.titles[decision] : ""} open={decision !== null} onClose={props.onClose}>
      {decision && (
        <form
          class={styles.section}
          onSubmit={(event) => {
            event.preventDefault();
            if (deliberate.isDeliberate()) props.onConfirm();
          }}
        >
          <p class="muted">{text.review.hints[decision]}</p>
          {draft.comments.length > 0 && <p>{text.review.remarks(draft.comments.length)}</p>}
          <TextField
            label={isWanted ? text.review.wanted : text.review.comment}
            rows={4}
            required={isWanted}
            value={draft.comment}
            onInput={props.onComment}
          />
          <Problem error={props.error} />
          <button
            type="submit"
            class={kind}
            aria-disabled={props.isBusy || !deliberate.settled}
            onPointerDown={deliberate.onPointerDown}
          >
            {text.review[decision]}
          </button>
        </form>
      )}
    </Dialog>
  );
}

/** Comments on a line: the one that was chosen, or one that is named here. */
function CommentOn(props: {
  place: { path: string; line: number | undefined } | null;
  onClose: () => void;
  onAdd: (comment: LineComment) => void;
}) {
  const { place, onClose } = props;
  return (
    <Dialog title={place ? text.diff.commentOn(place.path) : ""} open={place !== null} onClose={onClose}>
      {place && <CommentForm {...place} onAdd={props.onAdd} />}
    </Dialog>
  );
}

function CommentForm(props: { path: string; line: number | undefined; onAdd: (comment: LineComment) => void }) {
  const { path } = props;
  const [line, setLine] = useState(props.line === undefined ? "" : String(props.line));
  const [words, setWords] = useState("");
  return (
    <form
      class={styles.section}
      onSubmit={(event) => {
        event.preventDefault();
        props.onAdd({ path, line: Number(line), text: words.trim() });
      }}
    >
      <Field label={text.diff.line}>
        {(control) => (
          <input
            {...control}
            type="text"
            inputMode="numeric"
            pattern="[1-9][0-9]{0,6}"
            required
            autoComplete="off"
            value={line}
            onInput={({ currentTarget: { value } }) => setLine(value)}
          />
        )}
      </Field>
      <TextField label={text.diff.words} rows={4} required value={words} onInput={setWords} />
      <button type="submit" class="primary">
        {text.diff.add}
      </button>
    </form>
  );
}
