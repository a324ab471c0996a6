import { besideList } from "../filter.ts";
import { Link } from "../router.tsx";
import { useQuery } from "../query/query.ts";
import { inbox } from "./api.ts";
import { Asked } from "./parts.tsx";
import { text } from "./precedent-text.ts";
import styles from "./precedents.module.css";
import { text as inboxText } from "./text.ts";
import type { ArgumentChange, Precedent } from "./wire.ts";

/** Words that are the same are shown so far around a difference, in characters. */
const CONTEXT = 60;

/** Earlier decisions of people on the function of a call, the newest first, and how the present call differs. */
export function Precedents({ id }: { id: string }) {
  const { data, error } = useQuery({
    queryKey: ["precedents", id],
    queryFn: ({ signal }) => inbox.precedents(id, { signal }),
  });
  if (error && !data) return <p class="small muted">{text.failed}</p>;
  const [newest, ...earlier] = data?.precedents ?? [];
  if (!newest) return null;
  return (
    <section class={styles.precedents} aria-label={text.title}>
      <h2>{text.title}</h2>
      <Earlier precedent={newest} />
      {earlier.length > 0 && (
        <details>
          <summary>{text.earlier(earlier.length)}</summary>
          {earlier.map((one) => (
            <Earlier key={one.id} precedent={one} />
          ))}
        </details>
      )}
    </section>
  );
}

function Earlier({ precedent }: { precedent: Precedent }) {
  const { id, sentence, by, mine, at, comment, changes, more } = precedent;
  return (
    <div class={styles.precedent}>
      <p>
        <Link href={besideList(`/inbox/${id}`)}>{text.said(precedent, inboxText.who(by, mine))}</Link>
        <Asked at={at} />
      </p>
      <p class="muted">
        <bdi>{sentence}</bdi>
      </p>
      {comment !== null && (
        <p dir="auto" class={styles.comment}>
          {comment}
        </p>
      )}
      {changes.length === 0 ? (
        <p>{text.same}</p>
      ) : (
        <dl aria-label={text.changes}>
          {changes.map((change) => (
            <div key={change.name}>
              <dt>
                <bdi dir="ltr">{change.name}</bdi>{" "}
                {change.kind !== "changed" && <span class="muted">{text.kinds[change.kind]}</span>}
              </dt>
              <dd>
                <Change change={change} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {more > 0 && <p class="muted">{text.more(more)}</p>}
    </div>
  );
}

function Change({ change: { before, now, words, hidden } }: { change: ArgumentChange }) {
  return (
    <>
      {words ? (
        <p class={styles.words} dir="auto">
          {words.map((part, at) => (
            <Part key={at} {...part} isFirst={at === 0} isLast={at === words.length - 1} />
          ))}
        </p>
      ) : (
        before !== now && (
          <p class={styles.words} dir="ltr">
            {before !== null && <del>{before}</del>} {now !== null && <ins>{now}</ins>}
          </p>
        )
      )}
      {hidden !== null && <p class="muted">{text[hidden]}</p>}
    </>
  );
}

type WordPart = NonNullable<ArgumentChange["words"]>[number];

/** Line ends that differ are seen, as in the arguments. */
function Part({ kind, text: words, isFirst, isLast }: WordPart & { isFirst: boolean; isLast: boolean }) {
  if (kind === "same") return <>{shortened(words, isFirst, isLast)}</>;
  const seen = words.replaceAll("\n", "↵\n");
  return kind === "before" ? <del>{seen}</del> : <ins>{seen}</ins>;
}

/** Leaves out the middle of a long stretch that is the same, or the part of it that is at no difference. */
function shortened(words: string, isFirst: boolean, isLast: boolean): string {
  const all = Array.from(words);
  const start = isFirst ? 0 : CONTEXT;
  const end = isLast ? 0 : CONTEXT;
  if (all.length <= start + end + CONTEXT) return words;
  return `${all.slice(0, start).join("")} … ${end === 0 ? "" : all.slice(-end).join("")}`;
}
