import { Refusal } from "../../refusals.ts";
import type { Door, DoorContext } from "../http/door.ts";
import type { KnownChannels } from "./addressees.ts";
import { callRoutes } from "./call-routes.ts";
import { channelRoutes } from "./channel-routes.ts";
import { conversationRoutes } from "./conversation-routes.ts";
import { sendA2hError } from "./errors.ts";
import { humanRoutes } from "./human-routes.ts";
import { inquiryRoutes } from "./inquiry-routes.ts";
import { outcomeRoutes } from "./outcome-routes.ts";
import { planRoutes } from "./plan-routes.ts";
import { messageRoutes } from "./message-routes.ts";
import { routeOptions, type Mount } from "./route.ts";
import { webhookRoutes } from "./webhook-routes.ts";
import { A2H_VERSION, serverRoutes } from "./server-routes.ts";
import { WireProtocolVersion } from "../../wire/server.ts";

/** Where the protocol is served, and how much of it (spec/a2h 1). */
const MOUNTS = [
  { prefix: "", full: false, documented: false },
  { prefix: "/a2h/v1alpha1", full: true, documented: true },
  { prefix: "/humanlayer/v1", full: true, documented: false },
] as const;

/** Paths of the full set that clients ask for at the root when their base address is wrong. */
const FULL_ONLY = [
  "/contact_requests",
  "/contact_requests/:id",
  "/project",
  "/contact_channel/:id",
  "/audit",
  "/webhook_endpoints",
  "/webhook_endpoints/:id",
  ...["function_calls", "human_contacts"].flatMap((kind) =>
    ["pending", ":id/respond", ":id/escalate_email", ":id/cancel"].map((rest) => `/agent/${kind}/${rest}`),
  ),
];

/**
 * The A2H door: the draft's families at the root, everything under the two prefixes (docs/spec/a2h.md). It parses,
 * calls one verb and prints; it decides nothing.
 */
export function a2h(door: DoorContext, known: KnownChannels): (app: Door) => Promise<void> {
  return async (app) => {
    for (const { prefix, ...more } of MOUNTS) {
      await app.register(
        async (mounted) => {
          answerOwnErrors(mounted, door);
          const mount: Mount = { app: mounted, door, prefix, known, ...more };
          callRoutes(mount);
          outcomeRoutes(mount);
          planRoutes(mount);
          messageRoutes(mount);
          conversationRoutes(mount);
          humanRoutes(mount);
          channelRoutes(mount);
          if (mount.full) {
            serverRoutes(mount);
            webhookRoutes(mount);
            inquiryRoutes(mount);
          } else {
            rootRoutes(mount);
          }
        },
        { prefix },
      );
    }
  };
}

function answerOwnErrors(app: Door, { ctx }: DoorContext): void {
  app.setErrorHandler((error, http, reply) => sendA2hError(ctx, error, http, reply));
  if (app.prefix === "") return;
  app.setNotFoundHandler((http, reply) => sendA2hError(ctx, new Refusal("route_not_found"), http, reply));
}

function rootRoutes(mount: Mount): void {
  const { app, door } = mount;
  app.get(
    "/version",
    routeOptions(
      { ...mount, documented: true },
      { noun: "path", summary: "The protocol's version", reply: WireProtocolVersion },
    ),
    async (): Promise<WireProtocolVersion> => ({
      version: A2H_VERSION,
    }),
  );
  for (const url of FULL_ONLY) {
    app.route({
      method: app.supportedMethods.filter((method) => method !== "HEAD"),
      url,
      config: { ownMethods: true, noun: "path" },
      schema: { hide: true },
      handler: () => {
        throw new Refusal("route_not_found", { hint: `Use ${door.config.publicUrl}/humanlayer/v1 as base address.` });
      },
    });
  }
}
