import { createHash, randomUUID } from "node:crypto";

interface Options {
  timeout_s?: number;
  allowed_tools?: string[];
  role_id?: string;
  prompt_overrides?: { system_append?: string; output_schema?: unknown };
}

type Json = Record<string, unknown>;

/**
 * Asks as the executor SDK of mcp-task-relay 0.3.6 does (spec/relay 21): everything from the environment,
 * no header but the type of the body, an envelope with its own hash, only the names in camelCase, no patience with errors.
 */
export async function ask(
  type: string,
  prompt: string,
  options: Options = {},
): Promise<{ text?: string; json?: unknown }> {
  const { env } = process;
  const { timeout_s, allowed_tools = [], role_id, prompt_overrides } = options;
  const [job_id, step_id] = [env["TASK_RELAY_JOB_ID"], env["TASK_RELAY_STEP_ID"]];
  const caps = { read_only: true, timeout_ms: timeout_s === undefined ? undefined : timeout_s * 1000 };
  const envelope = {
    job_snapshot: { repo: "unknown", commit_sha: "unknown", env_profile: "dev", policy_version: "1.0" },
    facts: { job_id, step_id },
    tool_caps: allowed_tools.length > 0 ? Object.fromEntries(allowed_tools.map((tool) => [tool, caps])) : undefined,
    role: role_id ?? "default",
  };
  const hash = createHash("sha256")
    .update(JSON.stringify(sorted(envelope)))
    .digest("hex");
  const limits = { timeout_s, allowed_tools: allowed_tools.length > 0 ? allowed_tools : undefined };

  const origin = env["ASK_ANSWER_ORIGIN"] ?? "http://localhost:3415";
  const posted = await fetch(new URL("/asks", origin), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      type: "Ask",
      ask_id: randomUUID(),
      job_id,
      step_id,
      ask_type: type,
      prompt,
      context_hash: hash,
      context_envelope: envelope,
      role_id,
      constraints: timeout_s === undefined && allowed_tools.length === 0 ? undefined : limits,
      meta: prompt_overrides && { prompt_overrides },
    }),
  });
  if (!posted.ok) throw new Error(`Failed to create Ask (${posted.status}): ${await posted.text()}`);
  const { askId } = (await posted.json()) as { askId: string };
  const path = `/asks/${askId}/answer?wait=${env["ASK_ANSWER_WAIT_SECONDS"] ?? 25}s`;
  for (;;) {
    const reply = await fetch(new URL(path, origin), { headers: { Accept: "application/json" } });
    if (reply.status === 204) continue;
    if (!reply.ok) throw new Error(`Failed to fetch Answer (${reply.status}): ${await reply.text()}`);
    const { status, answerText, answerJson, attestation, error } = (await reply.json()) as {
      status: string;
      answerText?: string;
      answerJson?: unknown;
      attestation?: { context_hash: string };
      error?: string;
    };
    if (attestation && attestation.context_hash !== hash) throw new Error("E_CONTEXT_MISMATCH: another context");
    if (status !== "ANSWERED") throw new Error(error ?? answerText ?? status);
    return {
      ...(answerText !== undefined && { text: answerText }),
      ...(answerJson !== undefined && { json: answerJson }),
    };
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted((value as Json)[name])]));
}
