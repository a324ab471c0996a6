import { keepCompiled } from "../../lib/compile-cache.ts";

/** The process that owns one agent: `node supervisor-main.ts <folder>`. */
keepCompiled();
const { agentOf } = await import("../agents/agents.ts");
const { runAsSupervisor } = await import("./process.ts");
await runAsSupervisor(process.argv[2] ?? "", agentOf);
