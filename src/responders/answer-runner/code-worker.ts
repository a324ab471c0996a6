import { parentPort, workerData } from "node:worker_threads";
import variant from "@jitl/quickjs-wasmfile-release-sync";
import { DefaultIntrinsics, newQuickJSWASMModuleFromVariant, type QuickJSSyncVariant } from "quickjs-emscripten-core";

/** A program of the model's, and what it may look at. */
export interface CodeJob {
  code: string;
  /** `meta.input` of the ask, else the facts of its envelope. */
  input: unknown;
  /** Earlier results of tools in the same run. */
  results: readonly { tool: string; result: string }[];
}

export type CodeResult = { json: string } | { error: string };

const MOST_MEMORY_BYTES = 67_108_864;
const MOST_STACK_BYTES = 524_288;
const MOST_OUT_BYTES = 65_536;
/** Removes random numbers. The clock is left out of the intrinsics below. */
const WITHOUT = "delete Math.random;";

const job = workerData as CodeJob;
// Its types are those of its CommonJS form, where the same thing is one step further in.
const quickjs = await newQuickJSWASMModuleFromVariant(variant as unknown as QuickJSSyncVariant);
parentPort?.postMessage("ready");
parentPort?.postMessage(run());

function run(): CodeResult {
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(MOST_MEMORY_BYTES);
  runtime.setMaxStackSize(MOST_STACK_BYTES);
  const context = runtime.newContext({ intrinsics: { ...DefaultIntrinsics, Date: false } });
  const given = JSON.stringify({ input: job.input ?? null, results: job.results });
  const text = context.newString(given);
  context.setProp(context.global, "given", text);
  const prepared = context.evalCode(
    `${WITHOUT} { const all = JSON.parse(given); delete globalThis.given;
       globalThis.input = all.input; globalThis.results = all.results; }`,
  );
  if (prepared.error) return { error: "what it may look at is too much for it" };

  const done = context.evalCode(job.code, "code.js");
  if (done.error) return { error: cut(sentenceOf(context.dump(done.error))) };
  context.setProp(context.global, "given", done.value);
  // The interpreter makes the JSON, so that no more than text leaves it.
  const written = context.evalCode("JSON.stringify(given) ?? 'null'");
  if (written.error) return { error: "its last value has no form in JSON" };
  const json = context.getString(written.value);
  return Buffer.byteLength(json) > MOST_OUT_BYTES
    ? { error: `its last value is ${Buffer.byteLength(json)} bytes long; ${MOST_OUT_BYTES} may be` }
    : { json };
}

function sentenceOf(thrown: unknown): string {
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  const { name, message } = thrown as { name?: unknown; message?: unknown };
  return `${String(name ?? "Error")}: ${String(message ?? "")}`;
}

function cut(sentence: string): string {
  return sentence.slice(0, 1000);
}
