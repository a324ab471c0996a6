import { runAsSupervisor } from "../../src/workshop/supervisor/process.ts";
import { stepAgent } from "./workshop-agent.ts";

/** The supervisor as it is, of an agent that exists for these tests only. */
await runAsSupervisor(process.argv[2] ?? "", () => stepAgent);
