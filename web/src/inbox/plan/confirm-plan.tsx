import { useDeliberate } from "../../parts/deliberate.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import styles from "../ask.module.css";
import type { Intent } from "../confirm.tsx";
import { Comment, ConfirmForm } from "../confirm-parts.tsx";
import { approval, rejection } from "../decide.ts";
import type { AskDraft } from "../draft.ts";
import { text as inboxText } from "../text.ts";
import type { NewDecision, Plan, PlannedCall, WholeAsk } from "../wire.ts";
import { graveAmong, isGravePart } from "./part.ts";
import planStyles from "./plan.module.css";
import { text } from "./plan-text.ts";

/** So many calls of high risk are said in the sheet. */
const MOST_SAID = 5;

interface Sheet {
  ask: WholeAsk;
  plan: Plan;
  /** How many of its calls are in, the first ones. */
  left: number;
  draft: AskDraft;
  onChange: (part: AskDraft) => void;
  onClose: () => void;
  onDecide: (decision: NewDecision) => Promise<void>;
}

/** The sheet on which a plan, or its first calls, is approved or rejected at last, with a comment. */
export function ConfirmPlan({ intent, ...sheet }: Sheet & { intent: Intent | null }) {
  const of = sheet.plan.calls.length;
  const title = intent?.approve === false ? text.rejectTitle(of) : text.approveTitle(sheet.left, of);
  return (
    <Dialog title={title} open={intent !== null} onClose={sheet.onClose}>
      {intent && <Deciding intent={intent} {...sheet} />}
    </Dialog>
  );
}

function Deciding({ ask, plan, left, intent, draft, ...sheet }: Sheet & { intent: Intent }) {
  const approves = intent.approve;
  const of = plan.calls.length;
  const isGrave = approves && isGravePart(ask, plan, left);
  const grave = approves ? graveAmong(plan, left) : [];
  const deliberate = useDeliberate(intent);
  const decide = (): void => {
    const yes = { ...approval(ask, draft, { kwargs: null, granted: {} }), approved_calls: left };
    void sheet.onDecide(approves ? yes : rejection(ask, draft, undefined));
  };
  return (
    <ConfirmForm
      approves={approves}
      isGrave={isGrave}
      name={grave[0]?.fn ?? ask.fn ?? ask.title}
      lead={approves ? text.approveLead(ask.agent) : text.rejectLead}
      label={approves ? text.approve(left, of) : inboxText.reject}
      isAtEnd={intent.isAtEnd}
      deliberate={deliberate}
      onClose={sheet.onClose}
      onDecide={decide}
      about={
        <>
          {approves && left < of && <p>{text.rejects(left + 1, of)}</p>}
          {isGrave && <GraveCalls calls={grave} />}
        </>
      }
    >
      {(send) => (
        <Comment
          approves={approves}
          isFirst={!approves}
          value={draft.comment ?? ""}
          onChange={(comment) => sheet.onChange({ comment })}
          onSend={send}
        />
      )}
    </ConfirmForm>
  );
}

/** The calls of high risk among those that are approved; none where only the whole plan is of high risk. */
function GraveCalls({ calls }: { calls: readonly PlannedCall[] }) {
  return (
    <div class={styles.grave}>
      <Icon name="warning" />
      <div class={planStyles.grave}>
        <p>{calls.length > 0 ? text.grave(calls.length) : inboxText.risk.high}</p>
        {calls.slice(0, MOST_SAID).map(({ place, sentence }) => (
          <p key={place} dir="auto">
            {sentence}
          </p>
        ))}
        {calls.length > MOST_SAID && <p>{text.more(calls.length - MOST_SAID)}</p>}
      </div>
    </div>
  );
}
