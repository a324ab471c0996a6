import assert from "node:assert/strict";
import { it } from "node:test";
import { wordsBeside } from "../../web/src/inbox/draft.ts";

it("puts an option's words beside it, and beside no other, and keeps what somebody wrote", () => {
  const option = (name: string, prompt_fill: string | null, interactive = true) => ({
    name,
    title: name,
    description: null,
    prompt_fill,
    interactive,
  });
  const [later, cheaper, never] = [option("a", "Later."), option("b", "Cheaper."), option("c", "Never.", false)];
  const options = [later, cheaper, never];
  assert.equal(wordsBeside(later, options), "Later.");
  assert.equal(wordsBeside(cheaper, options, "Later."), "Cheaper.");
  for (const other of [never, undefined]) assert.equal(wordsBeside(other, options, "Later."), "");
  for (const any of [...options, undefined]) assert.equal(wordsBeside(any, options, "On Monday."), "On Monday.");
});
