import { useId } from "preact/hooks";
import { Link } from "../../router.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/notice.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { useTitle } from "../../title.ts";
import styles from "../console.module.css";
import { refreshAll } from "../queries.ts";
import { useChecklist } from "./checklist.ts";
import overviewStyles from "./overview.module.css";
import { text } from "./text.ts";

/** The steps of setting a server up, each with its state and a way to its page. */
export function ChecklistPage() {
  useTitle(text.checklist.title);
  const id = useId();
  const { items, error } = useChecklist();
  if (error && !items)
    return <Trouble title={text.unknown} error={error as Error} onTryAgain={() => void refreshAll()} />;
  if (!items) return <Loading rows={6} />;
  return (
    <section class={styles.console}>
      <header>
        <h1>{text.checklist.title}</h1>
        <p class="muted">{text.done(items.filter(({ isDone }) => isDone).length, items.length)}</p>
      </header>
      <ul class={overviewStyles.pages}>
        {items.map(({ title, says, isDone, href }, at) => (
          <li key={href}>
            <div class={overviewStyles.page}>
              <Link href={href} class={overviewStyles.label} aria-describedby={`${id}-${at}`}>
                {title}
              </Link>
              <span class={overviewStyles.step} data-done={isDone || undefined}>
                {isDone && <Icon name="check" />}
                {isDone ? text.checklist.done : text.checklist.open}
              </span>
              <span id={`${id}-${at}`} class={overviewStyles.says}>
                {says}
              </span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
