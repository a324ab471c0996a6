import type { FeedItem } from "@parley/sdk/wire";
import { Link, useLocation } from "../router.tsx";
import { useKeys } from "../keys.ts";
import { useDeliberate } from "../parts/deliberate.ts";
import { text } from "../text.ts";
import formStyles from "./answer-form.module.css";

/**
 * The bar below a question that has been answered or has ended. Its one control stands at the beginning of the bar,
 * where neither Send nor an option was, and does nothing in its first half second.
 */
export function NextStep({ next }: { next: FeedItem | undefined }) {
  const [, go] = useLocation();
  const deliberate = useDeliberate(null);
  const onward = next ? `/q/${next.question_id}` : "/";
  useKeys({ Enter: () => deliberate.isDeliberate() && go(onward) });
  return (
    <div class={formStyles.bar} onPointerDown={deliberate.onPointerDown}>
      <Link
        href={onward}
        class="button primary"
        data-place="next"
        aria-disabled={!deliberate.settled}
        aria-label={next ? text.question.next : undefined}
        onClick={(event) => {
          if (!deliberate.isDeliberate()) event.preventDefault();
        }}
      >
        {next ? text.question.nextShort : text.question.toAll}
      </Link>
    </div>
  );
}
