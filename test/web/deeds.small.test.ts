import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WEBHOOK_FORMATS } from "../../src/notices/model/webhook-events.ts";
import { TASK_STATES } from "../../src/tasks/model/task.ts";
import { text as arabic } from "../../web/src/console/text.ar.ts";
import { text as german } from "../../web/src/console/text.de.ts";
import { text as english } from "../../web/src/console/text.en.ts";

const JOB_STATES = ["queued", "running", "waiting_on_answer", "succeeded", "failed", "canceled", "expired"];
const OF_A_REQUEST =
  "created approved rejected answered completed cancelled expired escalated rerouted delivered delivery_failed " +
  "fell_back approval_counted claimed answer_refused message_exposed";
const ACTIONS = [
  ...Object.values(WEBHOOK_FORMATS).flat(),
  ...TASK_STATES.map((state) => `task.${state}`),
  ...JOB_STATES.map((state) => `job.${state}`),
  ...OF_A_REQUEST.split(" ").flatMap((verb) => [`function_call.${verb}`, `human_contact.${verb}`, `message.${verb}`]),
  ...["created", "updated", "deleted"].map((verb) => `webhook_endpoint.${verb}`),
  ...["created", "updated", "deleted", "erased", "signed_out", "sign_in_link_created"].map((verb) => `human.${verb}`),
  ...["created", "accepted", "dismissed", "revoked"].map((verb) => `policy_proposal.${verb}`),
  ...["answered", "asked_public", "closed", "escalated"].map((verb) => `relay.${verb}`),
  ...["ended", "run_again", "unknown"].map((verb) => `gate_call.${verb}`),
  ...["accepted", "write_allowed", "write_refused"].map((verb) => `tool.${verb}`),
  "key.created key.deleted policy_grant.created policy_grant.revoked decision.forgotten leaderboard_name.removed",
  "store.put_back store.restored conversation.opened installation_key.rotated",
].flatMap((names) => names.split(" "));

describe("an entry of the record", () => {
  it("is told in words, and by no name of the server's", () => {
    assert.equal(english.deed("function_call.delivery_failed"), "Function call: delivery failed");
    assert.equal(english.deed("human.sign_in_link_created"), "Person: sign in link created");
    assert.equal(german.deed("function_call.approved"), "Aufruf: genehmigt");
    for (const action of ACTIONS) {
      assert.match(english.deed(action), /^[A-Z][a-z ]+: [a-z ]+$/, action);
      const own = german.deed(action).split(": ");
      assert.ok(!own.some((part) => action.split(".").includes(part)), german.deed(action));
      assert.doesNotMatch(arabic.deed(action).replace(/Webhook|Slack/, ""), /[a-z_.]/i, action);
    }
  });

  it("keeps its name where it is of a later version", () => {
    assert.equal(german.deed("moon.painted_blue"), "Moon: painted blue");
  });
});
