import { Refusal } from "../../refusals.ts";
import type { Door, DoorContext, FastifyReply } from "../http/door.ts";
import { callerOf } from "./caller.ts";
import { sendAssignmentError } from "./errors.ts";
import { routeOptions } from "./request.ts";
import { reviewedRoutes } from "./reviewed-routes.ts";
import { streamRoutes } from "./stream-routes.ts";
import { taskRoutes } from "./task-routes.ts";
import { workerRoutes } from "./worker-routes.ts";

/** The default repository, and any by name; the root of the door's own hosts is the first of these (`host-form.ts`). */
const ENDPOINTS = ["/assignment", "/assignment/:repo"] as const;
const PREFLIGHT = {
  "access-control-allow-methods": "GET,POST,DELETE,OPTIONS",
  "access-control-allow-headers": "authorization,content-type,accept,idempotency-key",
  "access-control-max-age": "600",
} as const;

/** The Agent Assignment server's door (docs/spec/assignment.md). It decides nothing. */
export function assignment(door: DoorContext): (app: Door) => Promise<void> {
  const { corsOrigins: cors } = door.ctx.assignment;

  return async (app) => {
    app.setErrorHandler((error, http, reply) => sendAssignmentError(door.ctx, error, http, reply));
    app.addHook("onRoute", (route) => {
      route.config = { ...route.config, cors };
    });
    // Some environments of pages name no type, or the wrong one: a body is JSON, whatever its type.
    app.addHook("onRequest", (http, _reply, done) => {
      const type = http.headers["content-type"];
      if (type !== undefined) {
        http.facts.bodyType = type;
        http.headers["content-type"] = "application/octet-stream";
      }
      done();
    });
    for (const endpoint of ENDPOINTS) {
      taskRoutes(app, door, endpoint);
      streamRoutes(app, door, endpoint);
      for (const below of ["", "/events", "/tasks/:id", "/tasks/:id/diff", "/tasks/:id/log", "/tasks/:id/review"]) {
        const options = { config: { ownMethods: true }, schema: { hide: true } };
        app.options(`${endpoint}${below}`, options, async (_request, reply) => preflight(reply));
      }
    }
    workerRoutes(app, door);
    reviewedRoutes(app, door);
    // So that whatever is asked for below is declined in this protocol's words, and pages can read that.
    app.get("/assignment/*", { ...routeOptions("Nothing"), schema: { hide: true } }, async (http) => {
      await callerOf(door, http);
      throw new Refusal("route_not_found");
    });
  };
}

function preflight(reply: FastifyReply): FastifyReply {
  return reply.code(204).headers(PREFLIGHT).send();
}
