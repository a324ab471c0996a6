import { Notice } from "../parts/notice.tsx";
import { Link } from "../router.tsx";
import { holdsCode } from "../session.ts";
import { text } from "./aside-text.ts";

/** Nobody is signed in: why, and one way on. */
export function SignedOut() {
  const words = holdsCode()
    ? { title: text.codeFailed, hint: text.codeFailedHint }
    : { title: text.signedOut, hint: text.signedOutHint };
  return (
    <Notice {...words}>
      <Link href="/" class="button primary">
        {text.toQuestions}
      </Link>
    </Notice>
  );
}
