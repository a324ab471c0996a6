import { REPORT_REASONS, type ReportReason } from "@parley/sdk/wire";
import { useState } from "preact/hooks";
import { people } from "../api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { text as answerText } from "./text.ts";
import styles from "./report-dialog.module.css";

export function ReportDialog(props: {
  questionId: string;
  open: boolean;
  onClose: () => void;
  onReported: () => void;
}) {
  const [reason, setReason] = useState<ReportReason>("unclear");
  const [comment, setComment] = useState("");
  const [failed, setFailed] = useState(false);

  const send = async (): Promise<void> => {
    try {
      await people.report(props.questionId, reason, comment.trim());
      props.onClose();
      props.onReported();
    } catch {
      setFailed(true);
    }
  };

  return (
    <Dialog title={answerText.report.title} open={props.open} onClose={props.onClose}>
      <form
        class={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p class="muted">{answerText.report.lead}</p>
        <fieldset>
          <legend class="unseen">{answerText.report.legend}</legend>
          {REPORT_REASONS.map((one) => (
            <label key={one}>
              <input type="radio" name="reason" checked={one === reason} onChange={() => setReason(one)} />
              {answerText.report.reasons[one]}
            </label>
          ))}
        </fieldset>
        <label for="report-comment">{answerText.report.comment}</label>
        <textarea
          dir="auto"
          id="report-comment"
          rows={2}
          maxLength={500}
          value={comment}
          onInput={(event) => setComment(event.currentTarget.value)}
        />
        {failed && <p role="alert">{answerText.report.failed}</p>}
        <button type="submit" class="primary">
          {answerText.report.send}
        </button>
      </form>
    </Dialog>
  );
}
