import type { SlackApp, SlackOutside } from "./settings.ts";
import { at, type SlackCall, loggable, textAt } from "./web.ts";

const KEPT_MS = 600_000;
const MOST_KEPT = 10_000;

/** Says who is a full member of the workspace that an app is installed in. */
export interface SlackMembers {
  /**
   * False for bots, guests, people of other workspaces, and whoever Slack does not vouch for just now. A colleague of
   * an Enterprise Grid is a member of each workspace that Slack lists, whichever it counts them to.
   *
   * @param team the workspace that the payload counts the user to
   */
  isMember(app: SlackApp, user: string, team: string): Promise<boolean>;
}

/** Opens a memory of who is a member; a reply of Slack is good for ten minutes, and a missing one is not kept. */
export function openMembers(call: SlackCall, { clock, log }: SlackOutside): SlackMembers {
  const teams = new Map<string, string>();
  const known = new Map<string, { teams: readonly string[]; until: number }>();

  async function teamOf({ botToken }: SlackApp): Promise<string> {
    const team = teams.get(botToken) ?? textAt(await call(botToken, "auth.test", {}), "team_id");
    if (team !== "") teams.set(botToken, team);
    return team;
  }

  /** Returns the workspaces to which a payload may count the user; none for whoever is no full member of the app's. */
  async function teamsOf(app: SlackApp, user: string): Promise<readonly string[]> {
    const own = await teamOf(app);
    const found = at(await call(app.botToken, "users.info", { user }), "user");
    const counted = textAt(found, "team_id");
    const listed = at(found, "enterprise_user", "teams");
    const isHere = counted === own || (Array.isArray(listed) && listed.includes(own));
    return own !== "" && textAt(found, "id") === user && isFull(found) && isHere ? [own, counted] : [];
  }

  return {
    async isMember(app, user, team) {
      const key = `${app.botToken} ${user}`;
      const now = clock.monotonic();
      const kept = known.get(key);
      try {
        if (kept && now < kept.until) return kept.teams.includes(team);
        const teams = await teamsOf(app, user);
        if (known.size >= MOST_KEPT) known.delete(known.keys().next().value ?? "");
        known.delete(key);
        known.set(key, { teams, until: now + KEPT_MS });
        return teams.includes(team);
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
