import { Link } from "../router.tsx";
import { useWritten } from "../queries.ts";
import { text as answerText } from "./text.ts";
import { leadOf } from "../parts/code-blocks.ts";
import styles from "./unsent.module.css";

/** Above the list: what this device has written and the server does not have. */
export function Unsent({ onOpen }: { onOpen: (() => void) | undefined }) {
  const written = useWritten().filter((one) => one.state !== "sent");
  if (written.length === 0) return null;
  const waiting = written.filter((one) => one.state === "waiting").length;
  const refused = written.length - waiting;
  return (
    <section class={styles.unsent}>
      {waiting > 0 && <p>{answerText.waiting.list(waiting)}</p>}
      {refused > 0 && <p>{answerText.waiting.refusedList(refused)}</p>}
      <ul>
        {written.map(({ key, answer, question }) => (
          <li key={key}>
            <Link
              href={`/q/${answer.question_id}`}
              replace={onOpen !== undefined}
              onClick={() => onOpen?.()}
              dir="auto"
            >
              {leadOf(question.prompt)}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
