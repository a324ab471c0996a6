import { recordedAddresses } from "../config/undo-record.ts";
import { readLocalAgents } from "../connect/local-agents.ts";
import { a2h } from "../protocols/a2h/a2h.ts";
import { type KnownChannels, usualAudienceOf } from "../protocols/a2h/addressees.ts";
import { promptAsker } from "../protocols/a2h/prompts.ts";
import { askAHuman } from "../protocols/ask-a-human/ask-a-human.ts";
import { assignment } from "../protocols/assignment/assignment.ts";
import { agentPrompts } from "../protocols/hooks/agent-prompts.ts";
import { agentStates } from "../protocols/hooks/agent-states.ts";
import { hooks } from "../protocols/hooks/hooks.ts";
import type { Door } from "../protocols/http/door.ts";
import { mcp } from "../protocols/mcp/mcp.ts";
import { opsRoutes } from "../protocols/ops/ops-routes.ts";
import { formerRoutes } from "../protocols/relay/former-routes.ts";
import { liveRoute } from "../protocols/relay/live-route.ts";
import { relay } from "../protocols/relay/relay.ts";
import { adminAccessRoutes } from "../protocols/web/admin/access-routes.ts";
import { adminDecisionRoutes } from "../protocols/web/admin/decision-routes.ts";
import { adminPolicyRoutes } from "../protocols/web/admin/policy-routes.ts";
import { adminAskingAgentRoutes } from "../protocols/web/admin/asking-agent-routes.ts";
import { adminActivityRoutes } from "../protocols/web/admin/activity-routes.ts";
import { adminStateRoutes } from "../protocols/web/admin/state-routes.ts";
import { adminStuckRoutes } from "../protocols/web/admin/stuck-routes.ts";
import { adminTaskRoutes } from "../protocols/web/admin/task-routes.ts";
import { conversationRoutes } from "../protocols/web/inbox/conversation-routes.ts";
import { showToOnlooker } from "../protocols/web/inbox/onlooker.ts";
import { inboxRoutes } from "../protocols/web/inbox/routes.ts";
import { inboxTaskRoutes } from "../protocols/web/inbox/task-routes.ts";
import { linkPage } from "../protocols/web/links/page.ts";
import { pages, type PagesOptions } from "../protocols/web/pages/pages.ts";
import { receiptRoutes } from "../protocols/web/pages/receipt-routes.ts";
import { signInRoutes } from "../protocols/web/pages/sign-in-routes.ts";
import type { Parts } from "./parts.ts";

/** The values from which doors are opened; each takes those that it needs. */
export interface DoorParts extends Parts {
  known: KnownChannels;
  pagesOptions: PagesOptions;
  /** Returns the document of the API, with the routes of every door. */
  openApi: () => Promise<string>;
}

/** Opens a door: returns the function that adds its routes to the server. */
type OpenDoor = (parts: DoorParts) => (app: Door) => Promise<void>;

/** Every door. One of another protocol is a folder of src/protocols/, its import and its entry here. */
export const DOORS: readonly OpenDoor[] = [
  ({ door }) => askAHuman(door),
  ({ door, known }) => a2h(door, known),
  ({ door, ctx }) => relay(door, (requestId) => showToOnlooker(ctx, requestId)),
  ({ door }) => assignment(door),
  ({ door, known, tracer }) => mcp(door, usualAudienceOf(door.ctx, known), tracer),
  ({ door }) => signInRoutes(door),
  ({ door }) => receiptRoutes(door),
  ({ door, delivery }) => hooks(door, delivery.channels.values()),
  ({ door, known }) => agentPrompts(door, promptAsker(door, known)),
  ({ door, outside: { env } }) => {
    const ownHooks = () => [`${door.config.publicUrl}/hooks/claude`, ...recordedAddresses(env)];
    return agentStates(door, () => readLocalAgents(env, ownHooks));
  },
  ({ door }) => inboxRoutes(door),
  ({ door }) => inboxTaskRoutes(door),
  ({ door }) => conversationRoutes(door),
  ({ door }) => adminAccessRoutes(door),
  ({ door }) => adminStateRoutes(door),
  ({ door }) => adminStuckRoutes(door),
  ({ door }) => adminAskingAgentRoutes(door),
  ({ door }) => adminActivityRoutes(door),
  ({ door }) => adminPolicyRoutes(door),
  ({ door, ctx }) => formerRoutes(door, (requestId) => showToOnlooker(ctx, requestId)),
  ({ door }) => liveRoute(door),
  ({ door }) => adminDecisionRoutes(door),
  ({ door }) => adminTaskRoutes(door),
  ({ door }) => linkPage(door),
  ({ door, metrics, openApi }) => opsRoutes(door, { metrics, openApi }),
  ({ pagesOptions }) =>
    (app) =>
      pages(app, pagesOptions),
];
