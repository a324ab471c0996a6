/** People at the web app, on whichever server of a world their browser reaches. */
import { createKey } from "../../src/access/create-key.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import type { Audience, Request } from "../../src/requests/model/request.ts";
import { enrol, toPerson } from "./addressed.ts";
import { fresh } from "./contract.ts";
import type { Node, World } from "./world.ts";

/** A line of a person's list, as far as the tests look at it. */
interface Line {
  id: string;
  being_decided: boolean;
  handed_by: { id: string; away_until: string | null } | null;
}

/** Opens a browser in which an enrolled person is signed in. */
export async function openBrowser(world: World, person: string) {
  const { code } = await createSignInLink(world.server.ctx, person);
  const reply = await world.call("POST", "/session", { body: { code } });
  const cookie = (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const headers = { cookie, "sec-fetch-site": "same-origin" };
  return { headers, post: (path: string, body?: unknown) => world.call("POST", path, { headers, body }) };
}

/**
 * Enrols somebody who is signed in with a session of their own, who has a key, and perhaps a user on Slack; `at` has them
 * use another server.
 */
export async function signedIn(world: World, name: string, { slack }: { slack?: string } = {}) {
  const { ctx } = world.server;
  const channels = slack === undefined ? [] : [{ channel: "slack", target: { to: slack, settings: {} } } as const];
  const identities = slack === undefined ? [] : [{ kind: "slack", value: slack } as const];
  const id = await enrol(ctx, name, channels, { identities });
  const { headers: session } = await openBrowser(world, id);
  const { text } = await createKey(ctx, { name: fresh("phone"), scope: "answer", person: id });
  const key = { authorization: `Bearer ${text}` };
  const at = (node: Node) => inboxAt(node, session, key);
  return { id, at, ...at(world) };
}

function inboxAt(node: Node, session: Record<string, string>, key: Record<string, string>) {
  const call = (method: string, path: string, body?: object, headers = session) =>
    node.call(method, `/people/me/${path}`, { headers, ...(body && { body }) });
  const post = (path: string, body: object, headers = session) => call("POST", path, body, headers);
  const decide = (ask: Request, decision: object, headers = session) =>
    post(`asks/${ask.id}/decision`, { ...(ask.digest !== null && { digest: ask.digest }), ...decision }, headers);
  return {
    decide,
    approve: (ask: Request) => decide(ask, { approved: true }),
    reject: (ask: Request) => decide(ask, { approved: false }),
    byKey: (ask: Request) => decide(ask, { approved: true }, key),
    approveAll: (asks: readonly Request[]) =>
      post("decisions", { approved: true, calls: asks.map(({ id, digest }) => ({ id, digest })) }),
    undo: async (...asks: readonly { id: string }[]) => (await post("undo", { asks: asks.map(({ id }) => id) })).body,
    whole: async (ask: Request) => (await call("GET", `asks/${ask.id}`)).body,
    list: async () => (await call("GET", "asks")).body as { asks: Line[]; counts: { all: number; snoozed: number } },
    snooze: (ask: Request, until: string) => post(`asks/${ask.id}/snooze`, { until }),
    wake: (ask: Request) => call("DELETE", `asks/${ask.id}/snooze`),
    handOn: (ask: Request, { id: person }: { id: string }) => post(`asks/${ask.id}/hand-on`, { to: { person } }),
    askBack: (ask: Request, text: string) => post(`asks/${ask.id}/inquiries`, { text }),
    takeBack: (ask: Request) => call("DELETE", `asks/${ask.id}/hand-on`),
    goAway: (until: string, standIn: { id: string }) => call("PUT", "away", { until, stand_in: standIn.id }),
    comeBack: () => call("DELETE", "away"),
    signOut: () => node.call("DELETE", "/session", { headers: session }),
  };
}

/** The audience of a request that any one of these people may decide. */
export const anyOf = (...people: readonly { id: string }[]): Audience => ({
  kind: "any",
  of: people.map(({ id }) => ({ afterMs: 0, node: toPerson(id) })),
});
