#!/usr/bin/env bash
# A resumed graph stops again at a second, equal interrupt of its node, under the id of the first.
#
# Seen with @langchain/langgraph 1.4.17 and @langchain/core 1.4.0, Node 24.21: all interrupts of a node have one id, so that the state after the
# resume cannot be told from the state before it, and whoever keeps answers by id gives the first one twice.
# 1.7.3 gives each interrupt its own id.
#
# Output seen:
#   1.4.17: the same id and value before and after the resume
#   1.7.3: another id after the resume
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat > "$folder/program.mjs" <<'PROGRAM'
import { Annotation, Command, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";

const graph = new StateGraph(Annotation.Root({ answers: Annotation() }))
  .addNode("ask", () => ({ answers: [interrupt("Go on?"), interrupt("Go on?")] }))
  .addEdge(START, "ask")
  .compile({ checkpointer: new MemorySaver() });
const config = { configurable: { thread_id: "one" } };
const waiting = async () => JSON.stringify((await graph.getState(config)).tasks[0].interrupts);
await graph.invoke({}, config);
const before = await waiting();
await graph.invoke(new Command({ resume: { [JSON.parse(before)[0].id]: "yes" } }), config);
const after = await waiting();
if (JSON.parse(after)[0].value !== "Go on?") throw new Error(after);
const says = before === after ? "the same id and value before and after the resume" : "another id after the resume";
console.log(`${process.argv[2]}: ${says}`);
PROGRAM

for version in 1.4.17 1.7.3; do
  mkdir "$folder/$version"
  cd "$folder/$version"
  printf '{"type":"module","private":true}' > package.json
  npm install --silent --no-audit --no-fund "@langchain/langgraph@$version" @langchain/core@1.4.0 zod@4.6.7
  cp ../program.mjs .
  node program.mjs "$version"
done | sort > "$folder/seen"
sort > "$folder/wanted" <<'WANTED'
1.4.17: the same id and value before and after the resume
1.7.3: another id after the resume
WANTED
diff "$folder/wanted" "$folder/seen" && echo "As described."
