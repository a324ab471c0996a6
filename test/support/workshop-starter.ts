import { startSupervisor } from "../../src/workshop/supervisor/start.ts";
import type { SupervisorOrder } from "../../src/workshop/supervisor/lines.ts";

/** Starts a supervisor, says its pid, and stays, as a server would. */
const order = JSON.parse(process.env["ORDER"] ?? "") as SupervisorOrder;
const { pid } = await startSupervisor(order, { program: process.env["PROGRAM"] ?? "" });
console.log(pid);
setInterval(() => {}, 1000);
