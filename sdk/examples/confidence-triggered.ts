import type { Parley } from "@parley/sdk";

/** Asks people only when the agent's own confidence is low; their words come back beside its own answer. */
export async function decide(
  parley: Parley,
  own: { context: string; answer: string; confidence: number },
): Promise<{ answer: string; opinions: string[] }> {
  if (own.confidence >= 0.7) return { answer: own.answer, opinions: [] };

  const { question_id } = await parley.ask({
    prompt: `I'm deciding: ${own.context}. My tentative answer is ${own.answer}. What do you think?`,
    audience: ["technical"],
    min_responses: 2,
  });
  const responses = await parley.waitForResponses(question_id, { timeoutMs: 600_000 });
  return { answer: own.answer, opinions: responses.flatMap(({ answer }) => answer ?? []) };
}
