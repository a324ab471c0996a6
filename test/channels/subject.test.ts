import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { requestMessage } from "../../src/notices/model/push-message.ts";
import { findRequest } from "../../src/requests/store/requests.ts";
import { accepted, contactBody, sharedScene } from "../support/a2h.ts";
import { tool } from "../support/mcp.ts";

const SECRET = "AKIAIOSFODNN7EXAMPLZ";
const WORDS = "Does the biopsy show a melanoma?";

describe("the subject of a request", () => {
  const scene = sharedScene("sqlite");
  const shown = async (id: string) => {
    const found = await findRequest(scene().world.server.ctx.db, id);
    const { title, body } = requestMessage(found?.request ?? assert.fail("no request"), 0);
    return `${title} | ${body}`;
  };
  const newest = async () => {
    const [row] = await scene().world.server.ctx.db.all<{ ask_id: string; title: string }>(
      sql`SELECT ask_id, title FROM requests ORDER BY created_at DESC, ask_id DESC LIMIT 1`,
    );
    return row ?? assert.fail("no request");
  };
  const DOORS: Record<string, (subject?: string) => Promise<unknown>> = {
    a2h: async (subject) =>
      accepted(await scene().agent.post("/human_contacts", contactBody({ msg: WORDS, ...(subject && { subject }) }))),
    MCP: (subject) =>
      tool(scene().world, "contact_human", { message: WORDS, max_wait_seconds: 0, ...(subject && { subject }) }),
  };

  for (const [door, send] of Object.entries(DOORS)) {
    it(`is masked before it is stored, and shown by devices where it was given: ${door}`, async () => {
      for (const [subject, expected] of [
        [undefined, /\| Has a question for you$/],
        ["   ", /\| Has a question for you$/],
        ["Visit of Tuesday", /\| Has a question for you: Visit of Tuesday$/],
        [`Key ${SECRET} of prod`, /\| Has a question for you: Key .+ of prod$/],
      ] as const) {
        await scene().world.advance(1000);
        await send(subject);
        const { ask_id: id, title } = await newest();
        assert.doesNotMatch(title, new RegExp(SECRET));
        assert.match(await shown(id), expected);
      }
    });
  }
});
