import type { InboundMessage, Receive, ThreadContext, InboundResult } from "../channel.ts";
import { escaped, section } from "./blocks.ts";
import type { SlackMembers } from "./members.ts";
import { modalFor } from "./modal.ts";
import { openNoteLimit } from "./note-limit.ts";
import type { By, Wanted } from "./payload.ts";
import type { SlackApp, SlackOutside } from "./settings.ts";
import { talkIn } from "./thread.ts";
import { type SlackCall, loggable } from "./web.ts";

const NO_ENTRY = "Answer a question by its buttons or in its thread. No agent takes new conversations here.";

/** Does what people want of an app. */
export interface Follower {
  /** Records the person's decision, or sends them the reason why it is not recorded or the next step. */
  follow(app: SlackApp, wanted: Wanted, receive: Receive): Promise<void>;
  /** Posts a note that one person alone sees; a failure is only logged. */
  note(app: SlackApp, by: By, says: string): Promise<void>;
}

/** One thing that somebody wants, with what is needed to follow it. */
interface Following<Want extends Wanted> {
  app: SlackApp;
  wanted: Want;
  /** Whether whoever wants it is a full member of the app's workspace. */
  member: boolean;
  handleInbound(
    match: InboundMessage["match"],
    content: InboundMessage["content"],
    talk?: ThreadContext,
  ): Promise<InboundResult>;
  postNote(says: string): Promise<void>;
  replyWith(result: InboundResult): Promise<void>;
}

/** Opens the function that carries out the actions in payloads. */
export function openFollower(call: SlackCall, members: SlackMembers, outside: SlackOutside): Follower {
  const { clock, log } = outside;
  const isNoteLeft = openNoteLimit(clock);

  async function note(app: SlackApp, { user, channel, threadTs }: By, says: string): Promise<void> {
    const words = { text: escaped(says), blocks: [section(says)], ...(threadTs && { thread_ts: threadTs }) };
    try {
      await call(app.botToken, "chat.postEphemeral", { channel, user, ...words });
    } catch (error) {
      log.warn({ ...loggable(error), channel: "slack" }, "a note to a person could not be posted");
    }
  }

  async function follow(app: SlackApp, wanted: Wanted, receive: Receive): Promise<void> {
    const { by } = wanted;
    const member = await members.isMember(app, by.user, by.team);
    const ofApp = app.appId === undefined ? {} : { app: app.appId };
    const sender = { kind: "slack", id: by.user, team: by.team, member, channel: by.channel, ...ofApp } as const;
    const following: Omit<Following<Wanted>, "wanted"> = {
      app,
      member,
      handleInbound(match, content, talk) {
        const message = { id: wanted.id, at: clock.now(), match, sender, trust: "signed", content } as const;
        return receive({ provider: "slack", ...message, ...(talk && { talk }) });
      },
      postNote: (says) => note(app, by, says),
      async replyWith({ kind, says }) {
        if (kind === "repeated") return;
        // Never the link: it speaks for whom the message was sent to, and this person is not known to be asked.
        const more = kind === "needs_page" ? " Where there is no button, open the link of the message." : "";
        await note(app, by, says + more);
      },
    };
    switch (wanted.kind) {
      case "say":
        return followTalk({ ...following, wanted }, isNoteLeft);
      case "address":
        return followAddress({ ...following, wanted }, isNoteLeft);
      case "enter": {
        const { delivery, ts, content } = wanted.entered;
        return following.replyWith(await following.handleInbound({ delivery, ts }, content));
      }
      case "press":
        return followPress({ ...following, wanted }, call, outside);
    }
  }

  return { follow, note };
}

type Of<Is extends Wanted["kind"]> = Following<Extract<Wanted, { kind: Is }>>;

/** Words in a thread. In most threads nothing was asked, and people talk: that is not answered. */
async function followTalk(
  { app, wanted, handleInbound: hear, replyWith }: Of<"say">,
  isNoteLeft: (about: string) => boolean,
): Promise<void> {
  const { thread, text, by } = wanted;
  const result = await hear({ thread }, { text }, talkIn(app, wanted));
  if (result.kind !== "no_match" && isNoteLeft(`${thread} ${by.user}`)) await replyWith(result);
}

/** Words to the app itself, which are answered as often as the hour allows. */
async function followAddress(
  { app, wanted, handleInbound: hear, replyWith }: Of<"address">,
  isNoteLeft: (about: string) => boolean,
): Promise<void> {
  const { thread, text, by } = wanted;
  const result = await hear({ thread }, { text }, talkIn(app, wanted));
  const isNoEntry = result.kind === "no_match";
  if (isNoteLeft(`address ${by.user}`)) await replyWith(isNoEntry ? { ...result, says: NO_ENTRY } : result);
}

/** Records a press that is a complete answer. Any other press opens an editor, or sends the reason why none opens. */
async function followPress(
  { app, wanted, member, handleInbound: hear, postNote: tell, replyWith }: Of<"press">,
  call: SlackCall,
  outside: Pick<SlackOutside, "openFor">,
): Promise<void> {
  const { by, delivery, ts, does } = wanted;
  if (does.kind === "approve") return replyWith(await hear({ delivery, ts }, { choice: does }));
  const { channel } = by;
  const ofApp = app.appId === undefined ? {} : { app: app.appId };
  const opened = await outside.openFor(delivery, { id: by.user, channel, ts, member, ...ofApp });
  if ("refused" in opened) return tell(opened.refused);
  if (does.kind === "option" && !opened.view.options[does.index]?.interactive) {
    return replyWith(await hear({ delivery, ts }, { choice: does }));
  }
  const view = modalFor(does, opened.view, { delivery, channel, ts });
  await call(app.botToken, "views.open", { trigger_id: wanted.trigger, view });
}
