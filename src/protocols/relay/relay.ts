import type { Door, DoorContext } from "../http/door.ts";
import { sendRelayError } from "./errors.ts";
import { adminRoutes, type ShowRequest } from "./admin-view.ts";
import { askRoutes } from "./ask-routes.ts";
import { answerRoutes } from "./answer-routes.ts";
import { outcomeRoutes } from "./outcome-routes.ts";
import { jobRoutes } from "./job-routes.ts";

/** The Ask/Answer relay's door: `/asks`, `/answers`, `/jobs` (docs/spec/relay.md). It decides nothing. */
export function relay(door: DoorContext, show: ShowRequest): (app: Door) => Promise<void> {
  return async (app) => {
    app.setErrorHandler((error, http, reply) => sendRelayError(door.ctx, error, http, reply));
    askRoutes(app, door, show);
    answerRoutes(app, door);
    outcomeRoutes(app, door);
    adminRoutes(app, door);
    await jobRoutes(app, door);
  };
}
