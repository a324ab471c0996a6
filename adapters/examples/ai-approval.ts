import { answerApprovals } from "@parley/adapters/ai";
import type { Parley } from "@parley/sdk";
import { generateText, type LanguageModel, type ModelMessage, type ToolSet } from "ai";

export async function support(parley: Parley, model: LanguageModel, tools: ToolSet, to: string): Promise<string> {
  const messages: ModelMessage[] = [{ role: "user", content: "Refund order A-1007: it arrived torn." }];
  for (;;) {
    const toolApproval = { issue_refund: "user-approval" } as const;
    const { text, responseMessages } = await generateText({ model, messages, tools, toolApproval });
    messages.push(...responseMessages);
    const answers = await answerApprovals(parley, messages, { to });
    if (!answers) return text;
    messages.push(answers);
  }
}
