import type { Heard, Hook, Receive, Talk, Verdict } from "../channel.ts";
import { escaped, section } from "./blocks.ts";
import type { Members } from "./members.ts";
import { modalFor } from "./modal.ts";
import { type By, readPayload, type Wanted } from "./payload.ts";
import type { SlackApp, SlackOutside } from "./settings.ts";
import { findSigner } from "./signature.ts";
import { talkIn } from "./talk.ts";
import { type Call, loggable, textAt } from "./web.ts";

const MOST_BYTES = 1_048_576;
/** The second is where apps made for the hosted service already send; they change only their host. */
const ROOTS = ["/hooks/slack", "/humanlayer/v1/slack"];
const NOTES_PER_HOUR = 3;
const MOST_NOTED = 1000;
const HOUR_MS = 3_600_000;
const NO_ENTRY = "Answer a question by its buttons or in its thread. No agent takes new conversations here.";

/** Takes in what Slack says people did. */
export interface Inbound {
  hooks: readonly Hook[];
  /**
   * Starts what a payload asks for; its origin is proved. A press is followed after Slack was answered, because whoever
   * pressed can press again. Words are kept before: then it returns what resolves once they are on disk, with false
   * where Slack has to say them again.
   */
  take(app: SlackApp, payload: unknown, receive: Receive): Promise<boolean> | null;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
}

export function openInbound(apps: readonly SlackApp[], call: Call, members: Members, outside: SlackOutside): Inbound {
  const { clock, log } = outside;
  const signers = apps.flatMap((app) => (app.signingSecret ? [{ app, signingSecret: app.signingSecret }] : []));
  const underWay = new Set<Promise<boolean>>();
  const noted = new Map<string, number[]>();

  function hook(path: string, read: (body: string) => string): Hook {
    return {
      path,
      maxBytes: MOST_BYTES,
      async handle(request, receive) {
        const signer = findSigner(request, signers, clock.now());
        if (!signer) return { status: 401 };
        const payload = parsed(read(request.body.toString("utf8")));
        if (payload === undefined) return { status: 400 };
        if (!isFrom(signer.app, payload)) return { status: 401 };
        if (textAt(payload, "type") === "url_verification") {
          return { status: 200, type: "text/plain", body: textAt(payload, "challenge") };
        }
        return { status: (await (take(signer.app, payload, receive) ?? true)) ? 200 : 500 };
      },
    };
  }

  /** One app never speaks for another. */
  function isFrom(app: SlackApp, payload: unknown): boolean {
    const named = textAt(payload, "api_app_id");
    if (named === "" || named === app.appId) return true;
    return app.appId === undefined && !apps.some(({ appId }) => appId === named);
  }

  function take(app: SlackApp, payload: unknown, receive: Receive): Promise<boolean> | null {
    const wanted = readPayload(payload);
    if (!wanted) return null;
    const isWords = wanted.is === "say" || wanted.is === "address";
    const work = follow(app, wanted, receive)
      .then(
        () => true,
        async (error: unknown) => {
          log.error({ ...loggable(error), channel: "slack" }, "something heard could not be followed");
          if (!isWords) await note(app, wanted.by, "This could not be recorded just now. Please try again.");
          return false;
        },
      )
      .finally(() => underWay.delete(work));
    underWay.add(work);
    return isWords ? work : null;
  }

  async function follow(app: SlackApp, wanted: Wanted, receive: Receive): Promise<void> {
    const { by } = wanted;
    const member = await members.isMember(app, by.user, by.team);
    const hear = (match: Heard["match"], said: Heard["said"], talk?: Talk): Promise<Verdict> => {
      const sender = { kind: "slack", id: by.user, team: by.team, member, channel: by.channel } as const;
      const heard = {
        provider: "slack",
        id: wanted.id,
        at: clock.now(),
        match,
        sender,
        trust: "signed",
        said,
      } as const;
      return receive({ ...heard, ...(talk && { talk }) });
    };
    switch (wanted.is) {
      case "say": {
        const verdict = await hear({ thread: wanted.thread }, { text: wanted.text }, talkIn(app, wanted));
        // In most threads nothing was asked, and people talk.
        if (verdict.is !== "no_match" && isNoteLeft(`${wanted.thread} ${by.user}`)) await tellVerdict(verdict);
        return;
      }
      case "address": {
        const verdict = await hear({ thread: wanted.thread }, { text: wanted.text }, talkIn(app, wanted));
        const isNoEntry = verdict.is === "no_match";
        if (isNoteLeft(`address ${by.user}`)) await tellVerdict(isNoEntry ? { ...verdict, says: NO_ENTRY } : verdict);
        return;
      }
      case "enter":
        return tellVerdict(await hear({ delivery: wanted.entered.delivery }, wanted.entered.said));
      case "press": {
        const { delivery, does } = wanted;
        if (does.is === "approve") return tellVerdict(await hear({ delivery }, { choice: does }));
        const opened = await outside.openFor(delivery, { id: by.user, channel: by.channel, member });
        if ("refused" in opened) return note(app, by, opened.refused);
        if (does.is === "option" && !opened.view.options[does.index]?.interactive) {
          return tellVerdict(await hear({ delivery }, { choice: does }));
        }
        const view = modalFor(does, opened.view, delivery, by.channel);
        await call(app.botToken, "views.open", { trigger_id: wanted.trigger, view });
      }
    }

    async function tellVerdict({ is, says }: Verdict): Promise<void> {
      if (is === "repeated") return;
      // Never the link: it speaks for whom the message was sent to, and this person is not known to be asked.
      const more = is === "needs_page" ? " Where there is no button, open the link of the message." : "";
      await note(app, by, says + more);
    }
  }

  /** Says something that one person alone sees. */
  async function note(app: SlackApp, { user, channel, threadTs }: By, says: string): Promise<void> {
    const words = { text: escaped(says), blocks: [section(says)], ...(threadTs && { thread_ts: threadTs }) };
    try {
      await call(app.botToken, "chat.postEphemeral", { channel, user, ...words });
    } catch (error) {
      log.warn({ ...loggable(error), channel: "slack" }, "a person could not be told what became of an answer");
    }
  }

  /** Talk in a thread is answered a few times an hour and no more. */
  function isNoteLeft(about: string): boolean {
    const now = clock.monotonic();
    const recent = (noted.get(about) ?? []).filter((then) => now - then < HOUR_MS);
    if (recent.length >= NOTES_PER_HOUR) return false;
    if (noted.size >= MOST_NOTED) noted.delete(noted.keys().next().value ?? "");
    noted.delete(about);
    noted.set(about, [...recent, now]);
    return true;
  }

  return {
    hooks:
      signers.length === 0
        ? []
        : ROOTS.flatMap((root) => [
            hook(`${root}/events`, (body) => body),
            hook(`${root}/interactions`, (body) => new URLSearchParams(body).get("payload") ?? ""),
          ]),
    take,
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
