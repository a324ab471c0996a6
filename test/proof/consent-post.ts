import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import PostalMime from "postal-mime";
import type { Sink, Taken } from "../channels/mail.ts";

/** Takes mail for everybody, and greets at once: a real mail server first waits for clients that talk too early. */
export async function openPost(): Promise<Sink> {
  const taken: Taken[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
    converse(socket, taken);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    taken,
    hanging: () => 0,
    [Symbol.asyncDispose]: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function converse(socket: Socket, taken: Taken[]): void {
  const say = (line: string) => void socket.write(`${line}\r\n`);
  let envelope = { from: "", to: [] as string[] };
  let data: string[] | null = null;
  const take = async (lines: readonly string[]) => {
    const raw = Buffer.from(lines.map((line) => `${line.replace(/^\./, "")}\r\n`).join(""), "latin1");
    const { from, to } = envelope;
    envelope = { from: "", to: [] };
    taken.push({ from, to, raw, mail: await PostalMime.parse(raw) });
    say("250 taken");
  };
  createInterface({ input: socket.setEncoding("latin1") }).on("line", (line) => {
    if (data && line !== ".") return void data.push(line);
    if (data) {
      void take(data);
      data = null;
      return;
    }
    const [, verb = "", address = ""] = /^(\w+)[^<]*<?([^>]*)/.exec(line) ?? [];
    if (/^mail$/i.test(verb)) envelope.from = address;
    if (/^rcpt$/i.test(verb)) envelope.to.push(address);
    if (/^data$/i.test(verb)) data = [];
    say(/^data$/i.test(verb) ? "354 go on" : "250 yes");
    if (/^quit$/i.test(verb)) socket.end();
  });
  say("220 post");
}
