#!/usr/bin/env bash
# A tool call that repeats the id and arguments of an approved one is neither asked about nor run.
#
# Seen with @openai/agents 0.20.0, Node 24.21 and Node 20.20: some models number their calls anew in each turn. Such a
# later call does not interrupt the run for its approval, its tool does not run again, and the run goes on to its end
# without an error. Other arguments under the same id end the run with ModelBehaviorError.
#
# Output seen:
#   first turn: 1 interruption, 0 runs
#   after one approval, two equal calls: 0 interruptions, 1 run, "done"
#   other arguments under the id: ModelBehaviorError
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"type":"module","private":true}' > package.json
npm install --silent --no-audit --no-fund @openai/agents@0.20.0 zod@4.1.12

cat > program.mjs <<'PROGRAM'
import { Agent, run, setTracingDisabled, tool } from "@openai/agents";
import { assistantMessage, functionCall, modelResponse, ScriptedModel } from "@openai/agents/testing";

setTracingDisabled(true);
const ran = [];
const pay = tool({
  name: "pay",
  description: "Pays somebody.",
  parameters: { type: "object", properties: { to: { type: "string" } }, required: ["to"], additionalProperties: false },
  needsApproval: true,
  execute: async (input) => `paid ${ran.push(input)}`,
});
const call = (to) => modelResponse([functionCall("pay", { to }, { callId: "call_0" })]);

async function approvedOnce(second) {
  ran.length = 0;
  const model = new ScriptedModel([call("ana"), call(second), modelResponse([assistantMessage("done")])]);
  const agent = new Agent({ name: "payer", model, tools: [pay] });
  const first = await run(agent, "Pay.");
  console.log(`first turn: ${first.interruptions.length} interruption, ${ran.length} runs`);
  first.state.approve(first.interruptions[0]);
  return run(agent, first.state);
}

const { interruptions, finalOutput } = await approvedOnce("ana");
console.log(`after one approval, two equal calls: ${interruptions.length} interruptions, ${ran.length} run, "${finalOutput}"`);
const other = await approvedOnce("bo").catch((error) => error);
console.log(`other arguments under the id: ${other.constructor.name}`);
PROGRAM

node program.mjs | sort -u > seen
sort -u > wanted <<'WANTED'
first turn: 1 interruption, 0 runs
after one approval, two equal calls: 0 interruptions, 1 run, "done"
other arguments under the id: ModelBehaviorError
WANTED
diff wanted seen && echo "As described."
