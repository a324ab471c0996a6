import { Refusal } from "../../refusals.ts";
import {
  changeHuman,
  enrollHuman,
  readHuman,
  readHumans,
  searchHumans,
  type Human,
  type HumanInput,
} from "../../access/enroll-human.ts";
import { removeHuman } from "../../requests/end/remove-human.ts";
import { listGroups } from "../../access/resolve-recipient.ts";
import { refuseKeyAsName } from "../http/key-as-name.ts";
import type { DoorContext, FastifyRequest } from "../http/door.ts";
import { callerFrom, type A2hCaller } from "./caller.ts";
import { checked } from "./fields.ts";
import { adminView, agentView, readHumanChange, readNewHuman } from "./human-fields.ts";
import { idNumber, queryText } from "../http/query.ts";
import { badQuery, bodyOf, queryNumber, routeOptions, type A2hRouteInfo, type Mount } from "./route.ts";
import {
  HumanChangeBody,
  NewHumanBody,
  WireAnyHuman,
  WireEnrolledHuman,
  WireGroupList,
  WireHumanPage,
} from "../../wire/a2h/human.ts";

interface WithId {
  Params: { id: string };
}

type AboutRoute = (summary: string, more: Partial<A2hRouteInfo>) => ReturnType<typeof routeOptions>;

/** Humans: agents see whom they can ask and never how they are reached; admins write them down (spec/a2h 15). */
export function humanRoutes(mount: Mount): void {
  const { app, door } = mount;
  const { ctx } = door;
  const about: AboutRoute = (summary, more) => routeOptions(mount, { noun: "human", summary, ...more });

  app.get("/humans", about("Humans who can be asked", { reply: WireHumanPage }), async (http) => {
    const view = viewFor(await callerFrom(door, http, ["agent", "admin"]), http);
    return printPage(await readHumans(ctx, pageOf(http)), view);
  });

  app.get(
    "/humans/search",
    about("Humans whose name or description holds every word of ?q=", { reply: WireHumanPage }),
    async (http) => {
      const view = viewFor(await callerFrom(door, http, ["agent", "admin"]), http);
      const words = queryText(http.query, "q");
      if (words === undefined || !/[\p{L}\p{N}]/u.test(words)) throw badQuery("q", "must hold a word");
      return printPage(await searchHumans(ctx, words, pageOf(http)), view);
    },
  );

  app.get(
    "/groups",
    about("Groups whose people are asked together, by name", { reply: WireGroupList }),
    async (http): Promise<WireGroupList> => {
      await callerFrom(door, http, ["agent", "admin"]);
      const groups = await listGroups(ctx);
      return { groups: groups.map(({ name, humans }) => ({ name, humans: humans.map(agentView) })) };
    },
  );

  app.get<WithId>(
    "/humans/:id",
    about("One human; admins see how they are reached", { reply: WireAnyHuman }),
    async (http): Promise<WireAnyHuman> => {
      const caller = await callerFrom(door, http, ["agent", "admin"]);
      const human = await readHuman(ctx, numberOf(http));
      return caller.scope === "admin" ? adminView(human) : agentView(human);
    },
  );

  writeRoutes(mount, about);
}

/** Enrolling, changing and retiring humans, for admins. */
function writeRoutes({ app, door, prefix }: Mount, about: AboutRoute): void {
  const { ctx } = door;

  app.post(
    "/humans",
    about("Enroll a human", { body: NewHumanBody, reply: WireEnrolledHuman, replies: { 201: "Enrolled" } }),
    async (http, reply) => {
      const { by } = await callerFrom(door, http, ["admin"]);
      const human = await enrollHuman(ctx, humanInputOf(http, door), by);
      return reply.code(201).header("location", `${prefix}/humans/${human.number}`).send(adminView(human));
    },
  );

  app.put<WithId>(
    "/humans/:id",
    about("Write a human down anew", { body: NewHumanBody, reply: WireEnrolledHuman }),
    async (http) => {
      const { by } = await callerFrom(door, http, ["admin"]);
      const input = humanInputOf(http, door);
      return adminView(await changeHuman(ctx, numberOf(http), () => input, by));
    },
  );

  app.patch<WithId>(
    "/humans/:id",
    about("Change some of a human", { body: HumanChangeBody, reply: WireEnrolledHuman }),
    async (http) => {
      const { by } = await callerFrom(door, http, ["admin"]);
      const body = bodyOf(http);
      refuseKeyAsName(body["name"]);
      const change = checked((problems) => readHumanChange(body, problems, door.channels));
      return adminView(await changeHuman(ctx, numberOf(http), change, by));
    },
  );

  app.delete<WithId>(
    "/humans/:id",
    about("Retire a human; what only they were asked goes to everybody who sees all", {
      writes: true,
      replies: { 204: "Retired" },
    }),
    async (http, reply) => {
      const { by } = await callerFrom(door, http, ["admin"]);
      await removeHuman(ctx, numberOf(http), by);
      return reply.code(204).send();
    },
  );
}

/** Returns the human that a body describes, whole. @throws {Refusal} */
function humanInputOf(http: FastifyRequest, { channels }: DoorContext): HumanInput {
  const body = bodyOf(http);
  refuseKeyAsName(body["name"]);
  return checked((problems) => readNewHuman(body, problems, channels));
}

function pageOf(http: FastifyRequest): { after: number; limit: number } {
  return {
    limit: queryNumber(http, "limit", { min: 1, max: 200, usual: 100 }),
    after: queryNumber(http, "cursor", { min: 0, max: Number.MAX_SAFE_INTEGER, usual: 0 }),
  };
}

/** How a caller may see a human. */
type View = (human: Human) => WireAnyHuman;

function printPage({ humans, next }: Awaited<ReturnType<typeof readHumans>>, view: View): WireHumanPage {
  return { humans: humans.map(view), ...(next !== null && { nextCursor: String(next) }) };
}

function viewFor(caller: A2hCaller, http: FastifyRequest): View {
  const wanted = queryText(http.query, "view");
  if (wanted !== undefined && wanted !== "admin" && wanted !== "agent")
    throw badQuery("view", "must be agent or admin");
  if (wanted !== "admin") return agentView;
  if (caller.scope !== "admin") throw new Refusal("scope_missing", { scope: "admin" });
  return adminView;
}

/** Returns the human's number. @throws {Refusal} `human_not_found` for an id that cannot be a number */
function numberOf(http: FastifyRequest<WithId>): number {
  const { id } = http.params;
  const number = idNumber(id);
  if (number === null) throw new Refusal("human_not_found", { id });
  return number;
}
