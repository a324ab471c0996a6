import { REPORT_REASONS, type ReportReason } from "@parley/sdk/wire";
import { useState } from "preact/hooks";
import { people } from "../api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { text } from "../text.ts";
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
    <Dialog title={text.report.title} open={props.open} onClose={props.onClose}>
      <form
        class={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p class="muted">{text.report.lead}</p>
        <fieldset>
          <legend class="unseen">{text.report.legend}</legend>
          {REPORT_REASONS.map((one) => (
            <label key={one}>
              <input type="radio" name="reason" checked={one === reason} onChange={() => setReason(one)} />
              {text.report.reasons[one]}
            </label>
          ))}
        </fieldset>
        <label for="report-comment">{text.report.comment}</label>
        <textarea
          dir="auto"
          id="report-comment"
          rows={2}
          maxLength={500}
          value={comment}
          onInput={(event) => setComment(event.currentTarget.value)}
        />
        {failed && <p role="alert">{text.report.failed}</p>}
        <button type="submit" class="primary">
          {text.report.send}
        </button>
      </form>
    </Dialog>
  );
}
