import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { connect, createServer, Socket } from "node:net";
import { pipeline } from "node:stream";
import { systemClock } from "../../lib/clock.ts";

/**
 * The first program in the jail. It opens ports of 127.0.0.1 that lead to the supervisor's sockets, starts the agent,
 * passes an interrupt on to it, and ends as it does; with it ends everything in the jail. It reads its order from a
 * pipe, because others can read a command line.
 */
interface LauncherOrder {
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  bridges: readonly { port: number; socket: string }[];
  mostProcesses: number;
}

const ORDERS = 4;
const LOOK_EVERY_MS = 500;
const CANNOT_START = 127;
const TOO_MANY = 125;

const orders = new Socket({ fd: ORDERS, readable: true, writable: false });
let text = "";
let start: ((order: LauncherOrder) => void) | null = (order) => void launch(order);
let interrupt = (): void => {};
orders.setEncoding("utf8");
orders.on("data", (part: string) => {
  const lines = (text + part).split("\n");
  text = lines.pop() ?? "";
  for (const line of lines) {
    if (!start) interrupt();
    start?.(JSON.parse(line) as LauncherOrder);
    start = null;
  }
});
orders.on("end", () => process.exit(CANNOT_START));

async function launch({ argv: [program, ...args], env, bridges, mostProcesses }: LauncherOrder): Promise<void> {
  await Promise.all(bridges.map(bridge));
  const agent = spawn(program, args, { env, stdio: "inherit" });
  interrupt = () => void agent.kill("SIGINT");
  agent.on("error", (error) => {
    console.error(`${program} cannot be started: ${error.message}`);
    process.exit(CANNOT_START);
  });
  agent.on("exit", (code, signal) => {
    if (signal !== null) console.error(`The program was ended by ${signal}.`);
    process.exit(code ?? CANNOT_START + 1);
  });
  // The kernel does not count those of root.
  for (;;) {
    await systemClock.sleep(LOOK_EVERY_MS);
    if (readdirSync("/proc").filter((name) => /^\d+$/.test(name)).length <= mostProcesses) continue;
    console.error(`More than ${mostProcesses} processes at one time.`);
    process.exit(TOO_MANY);
  }
}

function bridge({ port, socket }: LauncherOrder["bridges"][number]): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (inside) => {
    const outside = connect({ path: socket, allowHalfOpen: true });
    pipeline(inside, outside, () => {});
    pipeline(outside, inside, () => {});
  });
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(port, "127.0.0.1", () => resolve());
  });
}
