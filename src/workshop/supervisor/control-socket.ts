import type { ReadableNote } from "../../requests/model/agent-note.ts";
import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { linesOf } from "../../lib/lines.ts";
import type { PermissionDecision, QuestionAnswer } from "../agents/agent.ts";
import type { SupervisorLog } from "./log.ts";
import type { SupervisorCommand } from "./lines.ts";

interface ControlSocketOptions {
  token: string;
  log: SupervisorLog;
  onDecide(ref: string, decision: PermissionDecision | QuestionAnswer): void;
  onNote(note: ReadableNote): void;
  onCancel(): void;
  onInterrupt(): void;
}

/** Returns the server that a client of the supervisor attaches to: it sends the log, and receives commands. */
export function openControlSocket({
  token,
  log,
  onDecide,
  onNote,
  onCancel,
  onInterrupt,
}: ControlSocketOptions): Server {
  const attend = async (socket: Socket) => {
    const gone = new AbortController();
    socket.on("error", () => {});
    socket.on("close", () => gone.abort());
    let isKnown = false;
    for await (const line of linesOf(socket)) {
      const command = JSON.parse(line) as SupervisorCommand;
      if (command.say === "attach") {
        isKnown = isSame(command.token, token);
        if (isKnown && command.after !== null)
          void sendLines(socket, command.after, gone.signal).catch(() => socket.destroy());
      }
      if (!isKnown) return void socket.destroy();
      if (command.say === "decide") onDecide(command.ref, command.decision);
      if (command.say === "note") onNote(command.note);
      if (command.say === "cancel") onCancel();
      if (command.say === "interrupt") onInterrupt();
    }
  };
  const sendLines = async (socket: Socket, after: number, signal: AbortSignal) => {
    for await (const line of log.follow(after, signal)) {
      if (!socket.write(`${line}\n`)) await once(socket, "drain", { signal });
    }
    socket.end();
  };
  return createServer((socket) => {
    attend(socket).catch(() => socket.destroy());
  });
}

function isSame(given: unknown, token: string): boolean {
  const shown = Buffer.from(typeof given === "string" ? given : "");
  const wanted = Buffer.from(token);
  return shown.length === wanted.length && timingSafeEqual(shown, wanted);
}
