import type { RouteShorthandOptions } from "fastify";
import { PLAN_DOOR } from "../../requests/model/plan.ts";
import type { Request } from "../../requests/model/request.ts";
import { cancelRequest } from "../../requests/end/end.ts";
import { agentPrincipal } from "../http/principals.ts";
import type { Door, DoorContext, FastifyRequest } from "../http/door.ts";
import { requestBody } from "./people-result.ts";
import { readOwnRequest } from "./people.ts";
import { chargeRead } from "./responses.ts";
import { membersOf } from "./rpc.ts";
import { WireMcpRequest } from "../../wire/mcp.ts";

interface WithId {
  Params: { id: string };
}

const JSON_TYPE = "application/json; charset=utf-8";

/**
 * Looking at what was asked of people by a tool, and ending it, from outside of MCP, as `parley check` and
 * `parley cancel` do. A decision that is shown here does not count as delivered: it stays good for one call.
 */
export function requestRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;
  const options = (summary: string): RouteShorthandOptions => ({
    schema: {
      tags: ["mcp"],
      summary,
      response: { 200: { description: "As it stands", content: { "application/json": { schema: WireMcpRequest } } } },
    },
  });

  app.get<WithId>("/mcp/requests/:id", options("How what a tool asked of people stands"), async (http, reply) => {
    const principal = await agentPrincipal(door, http);
    await chargeRead(door, principal);
    return reply.type(JSON_TYPE).send(await shown(await own(http, principal)));
  });

  app.delete<WithId>("/mcp/requests/:id", options("Withdraw what a tool asked of people"), async (http, reply) => {
    const principal = await agentPrincipal(door, http);
    const request = await own(http, principal);
    const over = await cancelRequest(ctx, request.id, { kind: "agent", id: principal });
    return reply.type(JSON_TYPE).send(await shown(over));
  });

  function own(http: FastifyRequest, principal: string): Promise<Request> {
    return readOwnRequest(ctx, principal, (http.params as WithId["Params"]).id);
  }

  /** Returns the request in the names of the tools' arguments, and its state in those of their results. */
  async function shown(ask: Request): Promise<string> {
    const { form, words } = ask;
    if (ask.door === PLAN_DOOR && form.kind === "approval") {
      return `{${membersOf(await requestBody(ctx, ask))},"asked":${form.kwargs}}`;
    }
    const asked =
      form.kind === "approval"
        ? `"fn":${JSON.stringify(form.fn)},"kwargs":${form.kwargs}`
        : membersOf({ message: words, ...(form.kind === "reply" && { options: form.options }) });
    return `{${membersOf(await requestBody(ctx, ask))},"asked":{${asked}}}`;
  }
}
