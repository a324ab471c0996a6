import type { Parley } from "@parley/sdk";

/** Waits for three opinions for at most five minutes, and decides with whatever there is. */
export async function isMessageClear(parley: Parley, message: string, timeoutMs = 300_000): Promise<boolean> {
  const { question_id } = await parley.ask({
    prompt: `Is this error message clear? "${message}"`,
    options: ["Yes", "No"],
    min_responses: 3,
    timeout_seconds: 300,
  });
  const { summary = {} } = await parley.wait(question_id, { timeoutMs });
  return (summary["Yes"] ?? 0) > (summary["No"] ?? 0);
}
