import type { SlackApp, SlackOutside } from "./settings.ts";
import { at, type SlackCall, loggable, textAt } from "./web.ts";

const KEPT_MS = 600_000;
const MOST_KEPT = 10_000;

/** Says who is a full member of the workspace that an app is installed in. */
export interface SlackMembers {
  /** False for bots, guests, people of other workspaces, and whoever Slack does not vouch for just now. */
  isMember(app: SlackApp, user: string, team: string): Promise<boolean>;
}

/** Opens a memory of who is a member; a reply of Slack is good for ten minutes, and a missing one is not kept. */
export function openMembers(call: SlackCall, { clock, log }: SlackOutside): SlackMembers {
  const teams = new Map<string, string>();
  const known = new Map<string, { isMember: boolean; until: number }>();

  async function teamOf({ botToken }: SlackApp): Promise<string> {
    const team = teams.get(botToken) ?? textAt(await call(botToken, "auth.test", {}), "team_id");
    if (team !== "") teams.set(botToken, team);
    return team;
  }

  async function look(app: SlackApp, user: string): Promise<boolean> {
    const team = await teamOf(app);
    const found = at(await call(app.botToken, "users.info", { user }), "user");
    return team !== "" && textAt(found, "id") === user && textAt(found, "team_id") === team && isFull(found);
  }

  return {
    async isMember(app, user, team) {
      const key = `${app.botToken} ${user}`;
      const now = clock.monotonic();
      const kept = known.get(key);
      try {
        if ((await teamOf(app)) !== team) return false;
        if (kept && now < kept.until) return kept.isMember;
        const isMember = await look(app, user);
        if (known.size >= MOST_KEPT) known.delete(known.keys().next().value ?? "");
        known.delete(key);
        known.set(key, { isMember, until: now + KEPT_MS });
        return isMember;
      } catch (error) {
        log.warn({ channel: "slack", ...loggable(error) }, "Slack did not say who somebody is");
        return false;
      }
    },
  };
}

const LESS_THAN_FULL = ["is_bot", "is_workflow_bot", "deleted", "is_restricted", "is_ultra_restricted", "is_stranger"];

function isFull(user: unknown): boolean {
  return textAt(user, "id") !== "USLACKBOT" && LESS_THAN_FULL.every((flag) => at(user, flag) !== true);
}
