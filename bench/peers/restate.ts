import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { reservePort } from "../../test/support/ports.ts";
import { type DecisionLoad, openPairs, wake } from "../decision-load.ts";
import { QUESTION } from "../parley-load.ts";
import { type Started, startProgram, together } from "../servers.ts";
import { fileOf } from "./packages.ts";

const APP = fileURLToPath(new URL("./restate-app.ts", import.meta.url));
const ANSWER = '{"selected_option":1,"confidence":4}';

/** Restate with the application that asks, and the cycle of a decision on it. */
export interface RestatePeer {
  server: Started;
  load: DecisionLoad;
  close(): Promise<void>;
}

/** Where a run of Restate keeps what it needs. */
export interface RestatePlace {
  /** The packages of the peers. */
  packages: string;
  data: string;
  core?: number | undefined;
  clients: number;
}

/**
 * Starts Restate's server and an application, registers the application, and opens the cycle. The server has its own
 * defaults but for its addresses and what it logs. @throws where either does not start
 */
export async function openRestate({ packages, data, core, clients }: RestatePlace): Promise<RestatePeer> {
  const ids = new Ids();
  const started: Started[] = [];
  const close = async () => {
    for (const one of started) await one.stop();
    await ids.close();
  };
  try {
    const [ingress, admin, node] = [await reservePort(), await reservePort(), await reservePort()];
    const at = (port: number) => `127.0.0.1:${port}`;
    const server = await startProgram({
      command: fileOf(packages, binary()),
      args: ["--no-logo", "--listen-mode=tcp", "--node-name=bench", `--base-dir=${data}`],
      env: {
        PATH: process.env["PATH"],
        HOME: data,
        RESTATE_BIND_ADDRESS: at(node),
        RESTATE_INGRESS__BIND_ADDRESS: at(ingress),
        RESTATE_ADMIN__BIND_ADDRESS: at(admin),
        RESTATE_DISABLE_TELEMETRY: "true",
        RESTATE_LOG_FILTER: "error",
      },
      core,
      ready: () => untilServed(`http://${at(ingress)}`, `http://${at(admin)}`),
    });
    started.unshift(server);
    const app = await startProgram({
      args: [APP, packages, String(await ids.listen())],
      env: { PATH: process.env["PATH"], HOME: data, NODE_ENV: "production", RESTATE_LOGGING: "ERROR" },
      core,
    });
    started.unshift(app);
    await register(`http://${at(admin)}`, app.url);
    const load = openAwakeables(server.url, clients, ids);
    return { server: together(server.url, started), load, close: async () => (load.close(), close()) };
  } catch (error) {
    await close();
    throw error;
  }
}

function binary(): string {
  return `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
}

/** Resolves with the address of the ingress once both serve. It asks until then: who started it knows when to stop. */
async function untilServed(ingress: string, admin: string): Promise<string> {
  for (const url of [`${admin}/health`, `${ingress}/restate/health`]) {
    while (
      !(await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      ))
    )
      await sleep(100);
  }
  return ingress;
}

async function register(admin: string, uri: string): Promise<void> {
  const reply = await fetch(`${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri }),
  });
  if (!reply.ok) throw new Error(`Restate did not register the application: ${reply.status} ${await reply.text()}`);
}

/** Receives the ids of awakeables, each for the request that waits for it. */
class Ids {
  readonly #waiting = new Map<string, (id: string) => void>();
  readonly #server: Server = createServer((socket) => {
    let rest = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#receive(line);
    });
    socket.on("error", () => socket.destroy());
  });

  async listen(): Promise<number> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  of(token: string): Promise<string> {
    return new Promise((resolve) => this.#waiting.set(token, resolve));
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    await once(this.#server.close(), "close");
  }

  #receive(line: string): void {
    const [token = "", id = ""] = line.split(" ");
    this.#waiting.get(token)?.(id);
    this.#waiting.delete(token);
  }
}

/** Opens the cycle: a call that stays attached, its awakeable's id, the resolution, and the reply to the call. */
function openAwakeables(url: string, clients: number, ids: Ids): DecisionLoad {
  const pairs = openPairs(url, clients);
  const run = Date.now().toString(36);
  let asked = 0;
  return {
    async step(client) {
      const { asker, decider } = pairs.of(client);
      const token = `${run}-${(asked += 1)}`;
      const published = ids.of(token);
      const call = asker.send("POST", "/decisions/ask", "", JSON.stringify({ ...QUESTION, token }));
      const early = call.then(({ status, body }) => {
        throw new Error(`Restate replied before it was resolved: ${status} ${body}`);
      });
      const id = await Promise.race([published, early]);
      return wake(call, () => decider.send("POST", `/restate/awakeables/${id}/resolve`, "", ANSWER), 202);
    },
    close: () => pairs.close(),
  };
}
