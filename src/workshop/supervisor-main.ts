import { agentOf } from "./agents/agents.ts";
import { runAsSupervisor } from "./supervisor-process.ts";

/** The process that owns one agent: `node supervisor-main.ts <folder>`. */
await runAsSupervisor(process.argv[2] ?? "", agentOf);
