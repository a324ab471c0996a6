import { ParleyError } from "@parley/sdk/errors";
import { useEffect } from "preact/hooks";
import { whenBack } from "../back.ts";
import { isUnreachable } from "../queries.ts";
import { text } from "../text.ts";
import { Notice } from "./notice.tsx";

/** Something could not be read: what is the case, and one way on. It is read again by itself once the server is back. */
export function Trouble(props: { title: string; error: unknown; level?: 1 | 2; onTryAgain: () => void }) {
  const { title, error, level = 1, onTryAgain } = props;
  useEffect(() => (isUnreachable(error) ? whenBack(onTryAgain) : undefined), [error]);
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
