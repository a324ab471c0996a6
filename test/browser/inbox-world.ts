import { after, before } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { canonicalExact, sha256Digest } from "../../src/lib/json/exact-json.ts";
import type { RequestForm } from "../../src/requests/model/request.ts";
import { consentText } from "../../src/requests/model/consent.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { enrol } from "../support/addressed.ts";
import { openWorld, type World } from "../support/world.ts";
import { launchBrowser } from "./chromium.ts";
import { type Look, type Visitor, visit } from "./visitor.ts";

/** A server with people who have names, whose time runs. */
export async function openInboxWorld(env: Record<string, string> = {}): Promise<World> {
  return openWorld({
    on: "sqlite",
    running: true,
    env: { PARLEY_ASK_A_HUMAN_LIMITS_HUMAN_READS_PER_HOUR: "100000", ...env },
  });
}

/** Somebody enrolled, and how to come in as them. */
export interface Named {
  id: string;
  name: string;
  /** A link that signs in once, and leads to the inbox. */
  link(): Promise<string>;
  /** Opens the inbox, or one ask in it, signed in. */
  visit(browser: Browser, look: Look & { ask?: { id: string } | undefined }): Promise<Visitor>;
}

export async function nameSomebody(world: World, name: string, more: Parameters<typeof enrol>[3] = {}): Promise<Named> {
  const { ctx } = world.server;
  const id = await enrol(ctx, name, [], more);
  const link = async (): Promise<string> => `/inbox#start=${(await createSignInLink(ctx, id)).code}`;
  return {
    id,
    name,
    link,
    async visit(browser, { ask, ...look }) {
      const visitor = await visit(browser, world.url, { ...look, path: await link() });
      await visitor.page.getByText(`Signed in as ${name}`).waitFor();
      if (ask) {
        await visitor.page.goto(`/inbox/${ask.id}`);
        await visitor.page.getByRole("heading", { level: 1 }).waitFor();
      }
      return visitor;
    },
  };
}

/** The shared state of the tests of a suite: a server, a browser, and a person who is asked. */
export interface InboxScene {
  world: World;
  browser: Browser;
  ana: Named;
  /** Opens the inbox, or one ask in it, signed in as Ana. */
  visit(look: Parameters<Named["visit"]>[1]): Promise<Visitor>;
}

/** Opens all of it before the tests of the suite that this is called in, and closes it after them. */
export function sharedInbox(env: Record<string, string> = {}): () => InboxScene {
  let scene: Partial<Omit<InboxScene, "visit">> = {};
  before(async () => {
    const world = await openInboxWorld(env);
    scene = { world };
    scene.browser = await launchBrowser();
    scene.ana = await nameSomebody(world, "Ana Ruiz");
  });
  after(async () => {
    await scene.browser?.close();
    await scene.world?.[Symbol.asyncDispose]();
  });
  return () => {
    const { world, browser, ana } = scene;
    if (!world || !browser || !ana) throw new Error("the inbox is open only while its tests run");
    return { world, browser, ana, visit: (look) => ana.visit(browser, look) };
  };
}

/** A call with these arguments, and what its approval is about. */
export function callOf(fn: string, kwargs: unknown, more: Partial<RequestForm & { kind: "approval" }> = {}) {
  const text = canonicalExact(kwargs);
  const form = { kind: "approval" as const, fn, kwargs: text, rejectOptions: [], editable: false, ...more };
  return { form, title: fn, digest: sha256Digest(consentText(fn, text)) };
}

/** Returns the place that says how a request ended: its own page, or the line above the next one. */
export function endOn(page: Page, words: string): Locator {
  const onItsPage = page.getByRole("status").getByText(words);
  return onItsPage.or(page.getByRole("link", { name: `${words}:` })).first();
}
