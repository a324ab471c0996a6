import { APICallError, generateText, jsonSchema, type LanguageModel, type ModelMessage, tool, type ToolSet } from "ai";
import type { Clock } from "../../lib/clock.ts";
import { systemRandom } from "../../lib/random.ts";
import type { Tokens } from "../../asks/model/model-budget.ts";
import type { FailedTurn, Turn } from "./wire.ts";

/** The one with whom the conversation is, and how long. */
export interface Speaker {
  model: LanguageModel;
  temperature: number;
  clock: Clock;
  signal: AbortSignal;
}

/** The parent process, which decides about budget and tools. */
export interface Parent {
  maySpend(most: Tokens): Promise<boolean>;
  spent(tokens: Tokens | null): void;
  call(name: string, args: unknown): Promise<string>;
}

/** A turn that ended without the model's last words. */
export class FailedCall extends Error {
  readonly why: FailedTurn;

  constructor(why: FailedTurn, says: string) {
    super(says);
    this.why = why;
  }
}

type Reply = Awaited<ReturnType<typeof generateText>>;

const CUT = "\n[cut]";

/**
 * Returns the model's last words, after it was given what the tools gave that it called (spec/relay 12).
 *
 * @throws {FailedCall}
 */
export async function takeTurn(turn: Turn, speaker: Speaker, parent: Parent): Promise<string> {
  const tools: ToolSet = Object.fromEntries(
    turn.tools.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema) }),
    ]),
  );
  const messages: ModelMessage[] = [{ role: "user", content: turn.user }];
  let leftChars = turn.maxInputChars - turn.system.length - turn.user.length - JSON.stringify(turn.tools).length;
  let words = "";
  for (let round = 0; round < turn.maxRounds; round += 1) {
    const reply = await speak({ turn, tools, messages }, speaker, parent);
    words = reply.text;
    if (reply.toolCalls.length === 0) return words;

    const results = [];
    for (const { toolCallId, toolName, input } of reply.toolCalls) {
      const given = await parent.call(toolName, input);
      const value = given.length <= leftChars ? given : given.slice(0, Math.max(0, leftChars)) + CUT;
      leftChars -= value.length;
      results.push({ type: "tool-result" as const, toolCallId, toolName, output: { type: "text" as const, value } });
    }
    // The SDK's own messages about calls that it did not understand are left out: the parent has replied to those too.
    messages.push(...reply.responseMessages.filter(({ role }) => role === "assistant"));
    messages.push({ role: "tool", content: results });
  }
  return words;
}

interface Conversation {
  turn: Turn;
  tools: ToolSet;
  messages: ModelMessage[];
}

/** One call of the model, and one more where the first met a busy or broken provider. */
async function speak(conversation: Conversation, speaker: Speaker, parent: Parent): Promise<Reply> {
  try {
    return await call(conversation, speaker, parent);
  } catch (error) {
    if (!isPassing(error)) throw failed(error);
  }
  const [chance = 0, more = 0] = systemRandom(2);
  await speaker.clock.sleep(500 + (chance * 256 + more) / 65.536, speaker.signal);
  try {
    return await call(conversation, speaker, parent);
  } catch (error) {
    throw failed(error);
  }
}

async function call({ turn, tools, messages }: Conversation, speaker: Speaker, parent: Parent): Promise<Reply> {
  const shown = JSON.stringify([turn.system, messages, turn.tools]);
  // No text has more tokens than bytes.
  const most = { input: Buffer.byteLength(shown), output: turn.maxTokens };
  if (!(await parent.maySpend(most))) throw new FailedCall("budget", "over budget");
  try {
    const reply = await generateText({
      model: speaker.model,
      instructions: turn.system,
      messages,
      tools,
      maxRetries: 0,
      maxOutputTokens: turn.maxTokens,
      temperature: speaker.temperature,
      abortSignal: speaker.signal,
    });
    const { inputTokens, outputTokens } = reply.usage;
    const isNotified = inputTokens !== undefined && outputTokens !== undefined;
    parent.spent(isNotified ? { input: inputTokens, output: outputTokens } : null);
    return reply;
  } catch (error) {
    // A refused call cost nothing. A call that broke off may have cost all of its reservation.
    parent.spent(APICallError.isInstance(error) && isRefusal(error.statusCode) ? { input: 0, output: 0 } : null);
    throw error;
  }
}

const isRefusal = (status: number | undefined): boolean => status !== undefined && status >= 400;

/** A busy provider, one with a fault of its own, or a connection that broke. */
function isPassing(error: unknown): boolean {
  if (!APICallError.isInstance(error)) return false;
  return error.statusCode === undefined || error.statusCode === 429 || error.statusCode >= 500;
}

/** The provider's own words stay here: they may repeat the prompt, or the key. */
function failed(error: unknown): FailedCall {
  if (error instanceof FailedCall) return error;
  const status = APICallError.isInstance(error) ? error.statusCode : undefined;
  if (status !== undefined && isRefusal(status)) return new FailedCall("model", `the provider replied ${status}`);
  return new FailedCall(
    "model",
    APICallError.isInstance(error) ? "the connection broke" : "its reply was not understood",
  );
}
