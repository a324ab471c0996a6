import { isJsonObject } from "../../lib/json/exact-json.ts";
import type { Target } from "../../requests/model/request.ts";
import { isOutside } from "../../channels/kinds.ts";
import { Refusal } from "../../refusals.ts";
import { goneSignal, type DoorContext, type FastifyReply } from "../http/door.ts";
import { audienceOf } from "./addressees.ts";
import { callerFrom, type A2hCaller } from "./caller.ts";
import { askerOf, rulesFor } from "./call-routes.ts";
import { readChannel, type ChannelTree, type ReadChannel } from "./contact-channel.ts";
import { member, pointer, type Loc, type Problem } from "./fields.ts";
import { queryText } from "../http/query.ts";
import { bodyOf, routeOptions, type Mount } from "./route.ts";
import {
  ChannelToValidateBody,
  WireChannelFields,
  WireChannelVerdict,
  type WireChannelError,
} from "../../wire/a2h/channel.ts";

const HUMAN_FIELDS = { id: { type: "string", description: "ID from GET /humans", required: true } } as const;

/** Which ways to reach people there are, and whether one is written as it must be (spec/a2h 16). */
export function channelRoutes(mount: Mount): void {
  const { app, door } = mount;

  app.get(
    "/channels",
    routeOptions(mount, { noun: "channel", summary: "Ways to reach people here", reply: WireChannelFields }),
    async (http): Promise<WireChannelFields> => {
      await callerFrom(door, http, ["agent", "admin"]);
      const outside = door.channels.list().map(({ name, fields }) => [name, fields] as const);
      return { channels: { ...Object.fromEntries(outside), human: HUMAN_FIELDS, inbox: {} } };
    },
  );

  app.post(
    "/channels/validate",
    routeOptions(mount, {
      noun: "channel",
      summary: "Check a contact channel; nothing is sent",
      body: ChannelToValidateBody,
      reply: WireChannelVerdict,
    }),
    async (http, reply): Promise<WireChannelVerdict> => {
      const caller = await callerFrom(door, http, ["agent", "admin"]);
      const body = bodyOf(http);
      const wrapped = member(body, "channel");
      const given = isJsonObject(wrapped) ? wrapped : body;
      const problems: Problem[] = [];
      const read = readChannel(given, [], problems, rulesFor(mount, caller));
      const errors = problems.map(errorOf);
      if (errors.length === 0 && !read)
        errors.push({ path: "", code: "required", message: "Name at least one channel." });
      if (errors.length === 0 && read) errors.push(...(await unknownIn(read, caller)));
      if (errors.length === 0 && read && queryText(http.query, "deep") === "true") {
        errors.push(...(await deepErrors(door, reply, read)));
      }
      return errors.length > 0 ? { valid: false, errors } : { valid: true, channel: read?.echo };
    },
  );

  async function unknownIn({ tree }: ReadChannel, caller: A2hCaller): Promise<WireChannelError[]> {
    const free = { channel: null, conversation: null, known: mount.known };
    const asker = caller.scope === "agent" ? askerOf(mount, caller) : { ...free, principal: caller.principal };
    try {
      await audienceOf(door.ctx, asker, { tree, tokens: [] }, "approval");
      return [];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code === "recipient_refused")
        return [{ path: String(error.details["path"]), code: "recipient_not_allowed", message: error.message }];
      if (error.kind === "forbidden") throw error;
      const path = pointer((error.details["loc"] as Loc | undefined) ?? []);
      if (error.code === "human_unknown")
        return [{ path: `${path}/id`, code: "unknown_human", message: error.message }];
      if (error.code === "channel_not_found") return [{ path, code: "unknown_channel", message: error.message }];
      const problems = (error.details["problems"] as Problem[] | undefined) ?? [];
      return problems.map(errorOf);
    }
  }
}

/** Returns what the providers say is wrong with whom a channel names. */
async function deepErrors(
  { channels }: DoorContext,
  reply: FastifyReply,
  { tree }: ReadChannel,
): Promise<WireChannelError[]> {
  const signal = goneSignal(reply);
  const found: WireChannelError[] = [];
  for (const target of targetsOf(tree)) {
    if (isOutside(target.via)) found.push(...(await channels.check(target.via, target, signal)));
  }
  return found;
}

function errorOf({ loc, code, message, bare }: Problem): WireChannelError {
  return { path: pointer(loc), code, message: bare ?? message };
}

function targetsOf(tree: ChannelTree): readonly Target[] {
  switch (tree.kind) {
    case "targets":
      return tree.targets;
    case "human":
    case "id":
      return [];
    case "any":
      return tree.of.flatMap(({ node }) => targetsOf(node));
    case "all":
    case "quorum":
      return tree.of.flatMap(targetsOf);
  }
}
