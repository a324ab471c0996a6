import { ParleyError } from "@parley/sdk/errors";
import { text } from "../text.ts";
import { Notice } from "./notice.tsx";

/** Something could not be read: what is the case, and one way on. */
export function Trouble(props: { title: string; error: unknown; level?: 1 | 2; onTryAgain: () => void }) {
  const { title, error, level = 1, onTryAgain } = props;
  return (
    <Notice level={level} {...explain(error, title)}>
      <button type="button" class="primary" onClick={onTryAgain}>
        {text.tryAgain}
      </button>
    </Notice>
  );
}

function explain(error: unknown, title: string): { title: string; hint: string } {
  if (!(error instanceof ParleyError)) return { title, hint: String(error) };
  if (error.isPassing) return { title: text.trouble.offline, hint: text.trouble.offlineHint };
  if (error.status === 401) return { title: text.trouble.signIn, hint: text.trouble.signInHint };
  if (error.status === 429) return { title, hint: text.trouble.limited((error.retryAfterSeconds ?? 60) * 1000) };
  return { title, hint: error.message };
}
