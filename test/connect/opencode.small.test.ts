import { opencode } from "../../src/connect/agents/opencode/opencode.ts";
import { describeWire } from "../support/prompt-wire.ts";

const tool_input = { patterns: ["rm -rf dist"], input: { command: "rm -rf dist" } };
const sent = {
  hook_event_name: "permission.asked",
  session_id: "s1",
  tool_use_id: "per_1",
  tool_name: "bash",
  tool_input,
};

describeWire({
  agent: opencode,
  prompts: [{ sent, tool: "bash", shown: tool_input }],
  decisions: [
    [{ is: "allow", because: "Approved by Ana" }, '{"decision":"allow","reason":"Approved by Ana"}'],
    [{ is: "deny", because: "Rejected by Ana" }, '{"decision":"deny","reason":"Rejected by Ana"}'],
    [{ is: "undecided", because: "Nobody." }, '{"decision":"ask","reason":"Nobody."}'],
  ],
  otherEvents: [{ ...sent, hook_event_name: "permission.replied" }, { hook_event_name: "session.idle" }],
  unreadable: [
    { ...sent, tool_name: "" },
    { ...sent, tool_input: [] },
  ],
});
