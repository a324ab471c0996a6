import { parseProviderJson } from "../../lib/json/json-body.ts";
import type { Hook, Receive } from "../channel.ts";
import { openFollower } from "./follow-wanted.ts";
import type { SlackMembers } from "./members.ts";
import { readPayload } from "./payload.ts";
import type { SlackApp, SlackOutside } from "./settings.ts";
import { findSigner } from "./signature.ts";
import { type SlackCall, loggable, textAt } from "./web.ts";

const MOST_BYTES = 1_048_576;
/** The second is where apps made for the hosted service already send; they change only their host. */
const ROOTS = ["/hooks/slack", "/humanlayer/v1/slack"];

/** Takes in what Slack says people did. */
export interface Inbound {
  hooks: readonly Hook[];
  /**
   * Starts what a payload asks for; its origin is proved. A press is followed after Slack was answered, because a
   * person can press again. Words are kept before: then it returns a promise that resolves once they are on disk, to
   * false if Slack has to send them again.
   */
  take(app: SlackApp, payload: unknown, receive: Receive): Promise<boolean> | null;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
}

export function openInbound(
  apps: readonly SlackApp[],
  call: SlackCall,
  members: SlackMembers,
  outside: SlackOutside,
): Inbound {
  const { clock, log } = outside;
  const signers = apps.flatMap((app) => (app.signingSecret ? [{ app, signingSecret: app.signingSecret }] : []));
  const underWay = new Set<Promise<boolean>>();
  const { follow, note } = openFollower(call, members, outside);

  function hook(path: string, read: (body: string) => string): Hook {
    return {
      path,
      maxBytes: MOST_BYTES,
      async handle(http, receive) {
        const signer = findSigner(http, signers, clock.now());
        if (!signer) return { status: 401 };
        const payload = parsed(read(http.body.toString("utf8")));
        if (payload === undefined) return { status: 400 };
        if (!isFrom(signer.app, payload, apps)) return { status: 401 };
        if (textAt(payload, "type") === "url_verification") {
          return { status: 200, type: "text/plain", body: textAt(payload, "challenge") };
        }
        return { status: (await (take(signer.app, payload, receive) ?? true)) ? 200 : 500 };
      },
    };
  }

  function take(app: SlackApp, payload: unknown, receive: Receive): Promise<boolean> | null {
    const wanted = readPayload(payload);
    if (!wanted) return null;
    const isWords = wanted.kind === "say" || wanted.kind === "address";
    const work = follow(app, wanted, receive)
      .then(
        () => true,
        async (error: unknown) => {
          log.error({ ...loggable(error), channel: "slack" }, "an inbound action failed");
          if (!isWords) await note(app, wanted.by, "This could not be recorded just now. Please try again.");
          return false;
        },
      )
      .finally(() => underWay.delete(work));
    underWay.add(work);
    return isWords ? work : null;
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

/** One app never speaks for another of those that are configured. */
function isFrom(app: SlackApp, payload: unknown, apps: readonly SlackApp[]): boolean {
  const named = textAt(payload, "api_app_id");
  if (named === "" || named === app.appId) return true;
  return app.appId === undefined && !apps.some(({ appId }) => appId === named);
}

function parsed(json: string): unknown {
  try {
    return parseProviderJson(json);
  } catch {
    return undefined;
  }
}
