import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { openAssignments, type AssignmentWorld } from "./assignment-world.ts";
import { atRest, type Visitor } from "./visitor.ts";

/** A board as somebody finds it on an ordinary day. */
export interface FilledBoard extends AssignmentWorld {
  /** Where the item stands in which work is reviewed, and that in which an agent wants to write. */
  review: string;
  wish: string;
}

const PAD =
  '<!doctype html><html lang="en"><title>Prompt Pad</title><style>body { font: 1rem system-ui; padding: 1rem; color-scheme: light dark }' +
  "textarea { width: 100%; font: inherit }</style><h1>Prompt Pad</h1><textarea aria-label=Prompt rows=8></textarea>";

const VAT = [
  "/** Value added tax in percent, by country. */",
  "export const VAT = { de: 19, fr: 20, lu: 17 };",
  "",
  "export function withVat(total, country) {",
  "  const rate = VAT[country] ?? 0;",
  "  return Math.round(total * (100 + rate)) / 100;",
  "}",
  "",
].join("\n");
const EXPORT = [
  'import { withVat } from "./vat.ts";',
  "",
  "export function exportOrders(orders) {",
  "  return orders.map((order) => ({",
  "    id: order.id,",
  "    total: withVat(order.total, order.country),",
  "  }));",
  "}",
  "",
].join("\n");

export async function fillBoard(): Promise<FilledBoard> {
  const pad = createServer((_request, response) => response.setHeader("content-type", "text/html").end(PAD));
  pad.listen(0, "127.0.0.1");
  await once(pad, "listening");
  const shop = await openAssignments({ prompt_pad: `http://127.0.0.1:${(pad.address() as AddressInfo).port}` });
  const close = async (): Promise<void> => {
    await shop[Symbol.asyncDispose]();
    pad.closeAllConnections();
    pad.close();
  };
  try {
    await fill(shop);
  } catch (error) {
    await close();
    throw error;
  }
  const pathOf = (url: string): string => new URL(url).pathname;
  return {
    ...shop,
    review: pathOf((await shop.read("export")).reviewUrl),
    wish: pathOf((await shop.read("rules")).question.url),
    [Symbol.asyncDispose]: close,
  };
}

async function fill({ give, reaches, planner }: AssignmentWorld): Promise<void> {
  await give("vat", "Keep the rates of VAT in one place", { does: [{ write: "src/vat.ts", text: VAT }] });
  await reaches("vat", "review");
  await planner("POST", "/assignment/tasks/vat/review", { verdict: "approve", attempt: 1, comment: "As we said." });
  await give("prices", "Show prices in the customer’s currency", {
    does: [{ fail: "There are no rates to show them by." }],
  });
  await give("deploy", "Try the release in staging", {
    does: [{ say: "I look at the plan first." }, { run: "make stage" }],
  });
  await give("rules", "Note how we write code", { does: [{ write: "AGENTS.md", text: "Be brief.\nBe kind.\n" }] });
  await give("nightly", "Make the nightly build faster", { does: [{ say: "I measure it first." }, { hang: true }] });
  await give("export", "Add VAT to the export\n\nEach order by its customer’s country; no country means no VAT.", {
    dependencies: ["vat"],
    does: [
      { say: "The rates are in src/vat.ts already; I use them in the export." },
      { write: "src/export.ts", text: EXPORT },
      { say: "The export has the rates of the customer’s country now." },
    ],
  });
  await give("invoice", "Use the same rates in the invoice", { dependencies: ["export", "layout"] });
  await reaches("prices", "failed");
  await reaches("deploy", "awaiting_answer");
  await reaches("rules", "awaiting_answer");
  await reaches("nightly", "running");
  await reaches("export", "review");
}

/** One look of the board and what belongs to it, and how to get there. */
export interface BoardView {
  name: string;
  path(filled: FilledBoard): string;
  open(visitor: Visitor): Promise<void>;
}

const region = ({ page }: Visitor, name: string): Promise<void> => page.getByRole("region", { name }).first().waitFor();

export const BOARD_VIEWS: readonly BoardView[] = [
  {
    name: "assignments",
    path: () => "/console/assignments",
    open: ({ page }) => page.getByRole("link", { name: /Use the same rates/ }).waitFor(),
  },
  {
    name: "assignments-new",
    path: () => "/console/assignments/_new",
    async open({ page }) {
      await page.getByLabel("What is to be done").fill("Write the release notes");
      await page.evaluate(() => {
        for (const key of Object.keys(localStorage))
          if (/^parley\.draft-.*\.task$/.test(key)) localStorage.removeItem(key);
      });
    },
  },
  {
    name: "assignment",
    path: () => "/console/assignments/shop/deploy",
    open: ({ page }) => page.getByRole("log").getByText("Wants to use Bash").waitFor(),
  },
  {
    name: "assignment-review",
    path: () => "/console/assignments/shop/export",
    open: (visitor) => region(visitor, "Changes of src/export.ts"),
  },
  {
    name: "assignment-comment",
    path: () => "/console/assignments/shop/export",
    async open({ page }) {
      const lines = page.getByRole("region", { name: "Changes of src/export.ts" });
      await lines.getByText("total: withVat(order.total, order.country),").click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "assignment-request-changes",
    path: () => "/console/assignments/shop/export",
    async open(visitor) {
      await region(visitor, "Changes of src/export.ts");
      await visitor.page.getByRole("button", { name: "Request changes" }).click();
      await visitor.page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "assignment-done",
    path: () => "/console/assignments/shop/vat",
    open: (visitor) => region(visitor, "Changes of src/vat.ts"),
  },
  {
    name: "assignment-failed",
    path: () => "/console/assignments/shop/prices",
    open: ({ page }) => page.getByRole("button", { name: "Do it again" }).waitFor(),
  },
  {
    name: "inbox-review",
    path: ({ review }) => review,
    open: (visitor) => region(visitor, "Changes of src/export.ts"),
  },
  {
    name: "inbox-task-question",
    path: ({ wish }) => wish,
    open: (visitor) => region(visitor, "What would change"),
  },
  {
    name: "prompt-pad",
    path: () => "/embed/prompt-pad.html",
    open: ({ page }) => page.frameLocator("iframe").getByRole("heading").waitFor(),
  },
];

/** Shows one view in a tab that is signed in. */
export async function showBoard(visitor: Visitor, filled: FilledBoard, view: BoardView): Promise<void> {
  await visitor.page.goto(view.path(filled));
  await view.open(visitor);
  await atRest(visitor.page);
}
