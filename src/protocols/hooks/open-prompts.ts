import { isDeepStrictEqual } from "node:util";
import type { AgentPrompt, UseOver } from "../../connect/agent.ts";

/** The prompts for which an agent waits at this process, each with what ends its wait. */
export interface OpenPrompts {
  /** Notes a prompt of a principal until it is disposed of. */
  add(principal: string, prompt: AgentPrompt, end: () => void): Disposable;
  /** Ends the wait of the oldest prompt of the principal about this use. */
  end(principal: string, use: UseOver): void;
}

interface OpenPrompt {
  principal: string;
  prompt: AgentPrompt;
  end: () => void;
}

/** Returns the list of the prompts that wait, empty at first. */
export function openPrompts(): OpenPrompts {
  const waiting = new Set<OpenPrompt>();
  return {
    add(principal, prompt, end) {
      const one = { principal, prompt, end };
      waiting.add(one);
      return { [Symbol.dispose]: () => void waiting.delete(one) };
    },
    end(principal, use) {
      const one = [...waiting].find((open) => open.principal === principal && isAbout(open.prompt, use));
      if (!one) return;
      waiting.delete(one);
      one.end();
    },
  };
}

/** Claude Code names no use in a permission prompt: its session, tool and input then tell. */
function isAbout({ session, tool, input, useId }: AgentPrompt, use: UseOver): boolean {
  if (session !== use.session) return false;
  if (useId !== undefined) return useId === use.useId;
  return tool === use.tool && isDeepStrictEqual(input, use.input);
}
