import assert from "node:assert/strict";
import { canonicalExact, sha256Digest } from "../../src/lib/json/exact-json.ts";
import type { Request } from "../../src/requests/model/request.ts";
import { consentText } from "../../src/requests/model/consent.ts";
import { tokensOf } from "../../src/requests/links/delivery-tokens.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { readDetails } from "../../src/requests/read/read-request.ts";
import { askPeople, leaf, toPerson } from "../support/addressed.ts";
import type { World } from "../support/world.ts";
import { callOf, nameSomebody, openInboxWorld, type Named } from "./inbox-world.ts";
import { askPlan } from "./plan-asks.ts";
import { atRest, type Visitor } from "./visitor.ts";

/** People and what agents ask of them, such as an inbox holds on an ordinary day. */
export interface FilledInbox {
  world: World;
  ana: Named;
  asks: Record<"refund" | "name" | "parcel" | "deploy" | "migrate" | "edit" | "plan", Request>;
  /** The address of a one-time link to a call. */
  link: string;
}

const DAY_S = 86_400;

export async function fillInbox(): Promise<FilledInbox> {
  const world = await openInboxWorld();
  const { ctx } = world.server;
  const address = "ana@example.com";
  const ana = await nameSomebody(world, "Ana Ruiz", { identities: [{ kind: "email", value: address }] });
  const bo = await nameSomebody(world, "Bo Lind");
  const audience = { kind: "any" as const, of: [ana, bo].map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) };

  const letter =
    "Dear Ms Roth,\n\nwe are sorry that the kettle arrived broken. You have your money back today, and need not send anything.\n\nKind regards\nYour kitchen shop";
  const kwargs = { amount: 49.9, currency: "EUR", letter, lines: [{ article: "kettle", count: 1 }], order: "A-1007" };
  const text = canonicalExact(kwargs);
  const refund = await askPeople(ctx, {
    audience,
    asker: "agent:support",
    title: "issue_refund",
    words: "The customer sent a photograph of the broken kettle. The rules allow a refund without return up to 60 EUR.",
    form: {
      kind: "approval",
      fn: "issue_refund",
      kwargs: text,
      editable: true,
      rejectOptions: [
        {
          name: "return",
          title: "Only after the return",
          description: "Asks the customer to send it back",
          interactive: false,
        },
        { name: "less", title: "A smaller amount", promptFill: "Offer ", interactive: true },
      ],
    },
    digest: sha256Digest(consentText("issue_refund", text)),
    timeoutSeconds: 2400,
    wire: { run_id: "ticket-4711" },
  });
  const name = await askPeople(ctx, {
    audience,
    asker: "agent:release-notes",
    title: "Which name shall the next release have?",
    words: "Which name shall the next release have?\n\nBoth fit the pattern of the last ones. The notes go out at six.",
    digest: null,
    form: {
      kind: "reply",
      options: [
        { name: "anchor", title: "Anchor", interactive: false },
        { name: "beacon", title: "Beacon", description: "As in lighthouse", interactive: false },
      ],
    },
    timeoutSeconds: 14_400,
  });
  const parcel = await askPeople(ctx, {
    audience,
    asker: "agent:shipping",
    title: "Where does the parcel of order A-1011 go?",
    words: "The address on the order is incomplete, and the customer does not answer the phone.",
    digest: null,
    form: { kind: "value", schema: PARCEL },
    timeoutSeconds: DAY_S,
  });
  const deployText = canonicalExact({ region: "eu-west", version: "1.8.2" });
  const deploy = await askPeople(ctx, {
    audience,
    asker: "agent:deployer",
    title: "deploy",
    words: "All checks are green.",
    form: { kind: "approval", fn: "deploy", kwargs: deployText, rejectOptions: [], editable: false },
    digest: sha256Digest(consentText("deploy", deployText)),
  });
  const migrate = await askPeople(ctx, {
    ...callOf("migrate", { database: "orders", skip_backup: true }),
    audience,
    asker: "agent:deployer",
    timeoutSeconds: 3000,
  });
  const edit = await askPeople(ctx, {
    ...callOf("edit_file", EDIT),
    audience,
    asker: "agent:coder",
    words: "The export rounds each line, so its total differs from the invoice.",
    timeoutSeconds: 5400,
  });
  const plan = await askPlan(world, audience, TIDY, {
    title: "Close the third quarter",
    timeoutSeconds: 3 * DAY_S,
    evidence: [
      { kind: "markdown", title: "Why", text: "All invoices of the quarter are **booked**. The drafts are copies." },
      {
        kind: "table",
        title: "Sizes",
        columns: ["file", "MB"],
        rows: [
          ["q3.xlsx", "14"],
          ["drafts", "310"],
        ],
      },
    ],
  });
  for (const [at, amount] of [24.5, 18, 240, 31.9, 22, 27.4].entries()) {
    await askPeople(ctx, {
      ...callOf("refund_order", { amount, currency: "EUR", order: `A-${1031 + at}`, reason: "late delivery" }),
      audience,
      asker: "agent:late-parcels",
      timeoutSeconds: 7200 + at,
    });
  }
  const responder = await responderOf(ctx.db, bo.id, "slack");
  await decideRequest(ctx, {
    requestId: deploy.id,
    responder,
    decision: { kind: "approve", comment: "After the backup, please.", digest: deploy.digest ?? "" },
  });

  const mailed = await askPeople(ctx, {
    audience: leaf({ via: "email", to: address, informed: false, settings: {} }),
    asker: "agent:support",
    words: "She asked twice.",
    timeoutSeconds: 2 * DAY_S,
  });
  const [delivery] = (await readDetails(ctx, mailed)).deliveries;
  const link = `/r/${tokensOf(ctx, delivery?.id ?? assert.fail("nothing was planned")).link}`;
  return { world, ana, asks: { refund, name, parcel, deploy, migrate, edit, plan }, link };
}

const TIDY = [
  ["move_file", { from: "q3.xlsx", to: "archive/2026/q3.xlsx" }],
  ["send_mail", { to: "books@example.com", subject: "The third quarter is closed" }],
  ["Bash", { command: "rm -rf /srv/books/drafts" }],
  ["lock_period", { period: "2026-Q3" }],
] as const;

const EDIT = {
  path: "src/export.ts",
  patch: [
    "--- a/src/export.ts",
    "+++ b/src/export.ts",
    "@@ -3,5 +3,5 @@",
    " export function total(lines: Line[]): number {",
    "-  return lines.reduce((sum, line) => sum + Math.round(line.price * line.count), 0);",
    "+  const exact = lines.reduce((sum, line) => sum + line.price * line.count, 0);",
    "+  return Math.round(exact);",
    " }",
    "",
  ].join("\n"),
  then: 'npm test -- export\nnode scripts/export.mjs --month 2026-10 --dry-run > "$TMPDIR/export.csv"',
};

const PARCEL = {
  type: "object",
  required: ["address", "gift"],
  properties: {
    address: {
      type: "object",
      title: "Address",
      required: ["street", "postcode"],
      properties: {
        street: { type: "string", maxLength: 80, title: "Street and number" },
        postcode: { type: "string", maxLength: 5, title: "Postcode", description: "Five digits" },
      },
    },
    gift: { type: "boolean", title: "Is it a gift?" },
    speed: { enum: ["Standard", "Express"], title: "Speed" },
    notes: { type: "array", title: "Notes for the driver", items: { type: "string" } },
  },
};

/** One look of the room, and how to get there from the list; the last two leave nobody signed in. */
export interface InboxView {
  name: string;
  open(visitor: Visitor, filled: FilledInbox): Promise<void>;
}

const at = async ({ page }: Visitor, ask: Request): Promise<void> => {
  await page.goto(`/inbox/${ask.id}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
};

/** Nobody is signed in any more. The page is left first: a reply that it still waited for would bring its cookie back. */
async function forgetSession({ page, context }: Visitor): Promise<void> {
  await page.goto("about:blank");
  await context.clearCookies();
}

async function atAlike({ page }: Visitor): Promise<void> {
  await page.getByRole("link", { name: /^6 alike: Refund order/ }).click();
  await page.getByRole("heading", { level: 1, name: "6 calls of refund_order" }).waitFor();
}

export const INBOX_VIEWS: readonly InboxView[] = [
  {
    name: "inbox",
    async open({ page }) {
      await page
        .getByRole("link", { name: /^Refund/ })
        .first()
        .waitFor();
    },
  },
  { name: "inbox-approval", open: (visitor, { asks }) => at(visitor, asks.refund) },
  {
    name: "inbox-confirm",
    async open(visitor, { asks }) {
      await at(visitor, asks.refund);
      await visitor.page.getByRole("button", { name: "Approve" }).click();
      await visitor.page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "inbox-edit",
    async open(visitor, { asks }) {
      await at(visitor, asks.refund);
      await visitor.page.getByText("Change the arguments").click();
      await visitor.page.getByLabel("Arguments as JSON").fill('{"amount": }');
    },
  },
  { name: "inbox-alike", open: atAlike },
  {
    name: "inbox-alike-confirm",
    async open(visitor) {
      await atAlike(visitor);
      await visitor.page.getByRole("button", { name: "Approve 5" }).click();
      await visitor.page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "inbox-plan",
    async open(visitor, { asks }) {
      await at(visitor, asks.plan);
      await visitor.page.getByRole("button", { name: "Take out from here: calls 3 to 4" }).click();
      await visitor.page.getByRole("button", { name: "Approve the first 2 of 4" }).waitFor();
    },
  },
  { name: "inbox-risk", open: (visitor, { asks }) => at(visitor, asks.migrate) },
  {
    name: "inbox-risk-confirm",
    async open(visitor, { asks }) {
      await at(visitor, asks.migrate);
      await visitor.page.getByRole("button", { name: "Approve" }).click();
      await visitor.page.getByRole("dialog").getByLabel("Or type migrate").waitFor();
    },
  },
  { name: "inbox-code", open: (visitor, { asks }) => at(visitor, asks.edit) },
  { name: "inbox-question", open: (visitor, { asks }) => at(visitor, asks.name) },
  {
    name: "inbox-form",
    async open(visitor, { asks }) {
      await at(visitor, asks.parcel);
      await visitor.page.getByLabel("Street and number").fill("Am Hang 3");
      await visitor.page.getByRole("button", { name: "Send" }).click();
      await visitor.page.getByText("Fill this in.").first().waitFor();
      await visitor.page.getByRole("button", { name: "Add to Notes for the driver" }).click();
    },
  },
  { name: "inbox-decided", open: (visitor, { asks }) => at(visitor, asks.deploy) },
  {
    name: "inbox-over",
    async open({ page }) {
      await page.getByLabel("Done").check();
      await page.getByText("Approved by Bo Lind").first().waitFor();
    },
  },
  {
    name: "link",
    async open({ page }, { link }) {
      await page.goto(link);
      await page.getByRole("button", { name: "Continue" }).waitFor();
    },
  },
  {
    name: "inbox-signed-out",
    async open(visitor) {
      await forgetSession(visitor);
      await visitor.page.goto("/inbox");
      await visitor.page
        .getByRole("heading", { name: "Sign in to see your inbox" })
        .waitFor()
        .catch(async (error: unknown) => {
          const shown = await visitor.page.locator("body").innerText();
          const cookies = (await visitor.context.cookies()).map(({ name }) => name);
          throw new Error(`the page shows, with the cookies ${cookies.join()}: ${shown}`, { cause: error });
        });
    },
  },
  {
    name: "link-decide",
    async open(visitor, { link }) {
      const { page } = visitor;
      // A signed-in person needs no code.
      await forgetSession(visitor);
      await page.goto(link);
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByLabel("Code").waitFor();
    },
  },
];

/** Shows one view in a tab that is signed in as Ana. */
export async function showInbox(visitor: Visitor, filled: FilledInbox, view: InboxView): Promise<void> {
  await visitor.page.goto("/inbox");
  await view.open(visitor, filled);
  await atRest(visitor.page);
}
