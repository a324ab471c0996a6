import { TEAM } from "../channels/slack-double.ts";
import type { ConsentStory } from "./consent-story.ts";
import { ASKERS_APP, ASKERS_TOKEN, type Somebody } from "./consent-world.ts";

export const CHANNEL = "C0OPS";
/** A full member of the Slack workspace who is not enrolled. */
export const MEMBER: Somebody = { name: "a member", email: "", slack: "U0GUEST", number: null, answers: null };

interface Press {
  user: string;
  channel: string;
  delivery: string;
  app: "ours" | "askers";
  ts: string;
}

export async function pressAs(story: ConsentStory, { user, channel, delivery, app, ts }: Press): Promise<void> {
  await story.on.press(
    {
      type: "block_actions",
      ...(app === "askers" && { api_app_id: ASKERS_APP }),
      team: { id: TEAM },
      user: { id: user, team_id: TEAM, username: user.toLowerCase() },
      channel: { id: channel },
      container: { type: "message", message_ts: ts, channel_id: channel },
      message: { ts, text: "May I read the weather?" },
      trigger_id: "t",
      actions: [
        {
          action_id: "parley:approve",
          block_id: "b",
          value: delivery,
          type: "button",
          action_ts: story.fresh("press"),
        },
      ],
    },
    app,
  );
}

/** Somebody of the channel who is not enrolled presses on what was posted there. */
export async function pressInChannel(story: ConsentStory): Promise<void> {
  const posts = story.on.slack.of("chat.postMessage").filter(({ form }) => form["channel"] === CHANNEL);
  const one = posts.at(-1 - story.dice.int(3));
  const delivery = deliveryIn(one?.form["blocks"]);
  if (!one || !delivery) return;
  const ts = tsOfPost(story.on.slack.of("chat.postMessage").indexOf(one));
  const user = MEMBER.slack ?? "";
  story.on.slack.users.set(user, { id: user, team_id: TEAM, deleted: false, is_bot: false });
  const requestId = await story.askOfDelivery(delivery);
  story.calls.find((call) => call.requestId === requestId)?.agreed.add(MEMBER);
  await pressAs(story, { user, channel: CHANNEL, delivery, app: "ours", ts });
  story.note(`somebody who is not enrolled presses in the channel about ${requestId}`);
}

/** The asker signs presses of Ana's on what its own app has posted. */
export async function pressOnOwnPosts(story: ConsentStory): Promise<void> {
  const posts = story.on.slack.of("chat.postMessage");
  for (const [i, { token, form }] of [...posts.entries()].slice(-6)) {
    const delivery = deliveryIn(form["blocks"]);
    if (token !== ASKERS_TOKEN || delivery === undefined) continue;
    const channel = form["channel"] ?? "";
    await pressAs(story, { user: "U0ANA", channel, delivery, app: "askers", ts: tsOfPost(i) });
    story.note(`signs a press of Ana's on its own message about ${delivery}`);
  }
}

const deliveryIn = (blocks: string | undefined) => /"value":"(dlv_\w+|[\w.-]+)"/.exec(blocks ?? "")?.[1];
/** The stand-in counts what is posted, and names each by its number. */
const tsOfPost = (i: number) => `1763632800.${String(i + 1).padStart(6, "0")}`;
