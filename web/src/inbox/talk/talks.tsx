import { useLayoutEffect } from "preact/hooks";
import feedStyles from "../../answer/feed.module.css";
import { serverNow } from "../../api.ts";
import { ago } from "../../format.ts";
import { onScreen } from "../../keys.ts";
import { More } from "../../parts/more.tsx";
import { Link, useLocation } from "../../router.tsx";
import { text } from "../text.ts";
import { useTalks } from "./api.ts";
import { talkPath } from "./path.ts";
import talkStyles from "./talk.module.css";

const words = text.talk;
const NEW = "/inbox/new";

/** The way to a new conversation; nothing where no agent takes any. */
function BeginTalk() {
  const { first } = useTalks();
  const [, go] = useLocation();
  const isTaken = first && first.entry_points.length > 0;
  // Where a card has a field of its own, the key is the card's, whichever of the two was drawn first.
  useLayoutEffect(() => {
    if (isTaken) onScreen[0] = [{ w: () => go(NEW) }];
    return () => void delete onScreen[0];
  }, [isTaken]);
  if (!isTaken) return null;
  return (
    <Link href={NEW} class={`button ${talkStyles.begin}`}>
      {words.new}
    </Link>
  );
}

/** The conversations that were begun here, the latest first. */
function Begun() {
  const { first, talks, hasNextPage, fetchNextPage } = useTalks();
  if (!first || talks.length === 0) return null;
  return (
    <details class={talkStyles.talks}>
      <summary>{words.begun(first.count)}</summary>
      <ul>
        {talks.map(({ id, title, agent, said_at: at }) => (
          <li key={id} class={feedStyles.row}>
            <Link href={talkPath(id)} class={feedStyles.link}>
              <span class={feedStyles.prompt} dir="auto">
                {title}
              </span>
              <span class={feedStyles.facts}>
                <bdi>{agent}</bdi>
                <span>{ago(serverNow() - Date.parse(at))}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
      <More
        label={text.older}
        rows={talks.length}
        isMore={hasNextPage}
        readOn={() => fetchNextPage({ throwOnError: true })}
      />
    </details>
  );
}

/** The way to a new conversation, and the conversations that were begun. */
export function Talks() {
  return (
    <>
      <BeginTalk />
      <Begun />
    </>
  );
}
