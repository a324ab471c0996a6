import feedStyles from "../../answer/feed.module.css";
import { serverNow } from "../../api.ts";
import { ago } from "../../format.ts";
import { More } from "../../parts/more.tsx";
import { Link } from "../../router.tsx";
import { text } from "../text.ts";
import { useTalks } from "./api.ts";
import { talkPath } from "./path.ts";
import talkStyles from "./talk.module.css";

const words = text.talk;

/** The way to a new conversation; nothing where no agent takes any. */
function BeginTalk() {
  const { first } = useTalks();
  if (!first || first.entry_points.length === 0) return null;
  return (
    <Link href="/inbox/new" class={`button ${talkStyles.begin}`}>
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
