/**
 * The application that asks for decisions on DBOS, over HTTP with the paths of `floor.ts`: POST / starts a workflow
 * that receives a message, POST /ID sends the message, and GET /ID waits for the workflow's result.
 *
 *     DATABASE_URL=... node bench/peers/dbos-app.ts FOLDER
 *
 * FOLDER holds the packages of the peers. It prints its address when it is ready.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { importFrom } from "./packages.ts";

interface Handle {
  workflowID: string;
  getResult(): Promise<unknown>;
}

interface Dbos {
  setConfig(config: { name: string; systemDatabaseUrl: string; logLevel: string }): void;
  launch(): Promise<void>;
  shutdown(): Promise<void>;
  registerWorkflow(
    run: (ask: unknown) => Promise<unknown>,
    named: { name: string },
  ): (ask: unknown) => Promise<unknown>;
  startWorkflow(workflow: (ask: unknown) => Promise<unknown>): (ask: unknown) => Promise<Handle>;
  recv(topic: string, seconds: number): Promise<unknown>;
  send(workflow: string, message: unknown, topic: string): Promise<void>;
}

const { DBOS } = (await importFrom(process.argv[2] ?? ".", "@dbos-inc/dbos-sdk")) as { DBOS: Dbos };
DBOS.setConfig({ name: "decisions", systemDatabaseUrl: process.env["DATABASE_URL"] ?? "", logLevel: "error" });
const decide = DBOS.registerWorkflow(() => DBOS.recv("answer", 60), { name: "decide" });
await DBOS.launch();

/** The workflows of this process, until somebody has waited for them. */
const handles = new Map<string, Handle>();

async function respond(request: IncomingMessage): Promise<[status: number, body: object]> {
  const id = request.url?.slice(1) ?? "";
  if (request.method === "GET") {
    const answer = await handles.get(id)?.getResult();
    handles.delete(id);
    return [200, { id, answer }];
  }
  const body = JSON.parse(await text(request)) as unknown;
  if (id !== "") {
    await DBOS.send(id, body, "answer");
    return [201, { id }];
  }
  const handle = await DBOS.startWorkflow(decide)(body);
  handles.set(handle.workflowID, handle);
  return [201, { id: handle.workflowID }];
}

function reply(response: ServerResponse, status: number, body: object): void {
  const json = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(json) });
  response.end(json);
}

const server = createServer((request, response) => {
  respond(request).then(
    ([status, body]) => reply(response, status, body),
    (error: Error) => reply(response, 500, { error: error.message }),
  );
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
process.once("SIGTERM", () => void DBOS.shutdown().finally(() => process.exit(0)));
