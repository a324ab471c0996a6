import { Socket } from "node:net";

/** A listening socket inherited from the process that started this one, and its address. */
export interface InheritedSocket {
  socket: Socket;
  address: string;
  port: number;
}

/** Standard input, output and error come before it. */
const FIRST_DESCRIPTOR = 3;
/** All that says what was passed: no program that is started later may take the sockets for its own. */
const VARIABLES = ["LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDS", "LISTEN_FDNAMES"];

/**
 * Returns the listening TCP sockets that this process was started with, as systemd passes them (sd_listen_fds(3)):
 * `LISTEN_FDS` of them from descriptor 3 on, for the process whose number is `LISTEN_PID`; none where that is another
 * process. Their names say nothing here. The variables are taken out of `env`.
 *
 * @throws {Error} one sentence for the operator: what was passed is no TCP socket
 */
export function takeInheritedSockets(env: NodeJS.ProcessEnv): InheritedSocket[] {
  const { LISTEN_PID: pid, LISTEN_FDS: count = "" } = env;
  for (const name of VARIABLES) Reflect.deleteProperty(env, name);
  if (pid !== String(process.pid)) return [];
  if (!/^\d{1,4}$/.test(count)) throw new Error(`LISTEN_FDS must be a number of sockets, and is "${count}".`);
  return Array.from({ length: Number(count) }, (_, i) => openInherited(FIRST_DESCRIPTOR + i));
}

function openInherited(descriptor: number): InheritedSocket {
  const refused = (why: string) => new Error(`Descriptor ${descriptor} of LISTEN_FDS is not a TCP socket${why}.`);
  let socket: Socket;
  try {
    // Opened only to be listened at: nothing is read from it.
    socket = new Socket({ fd: descriptor, readable: false, writable: false });
  } catch (error) {
    throw refused(` (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
  const place = socket.address();
  if (!("address" in place)) throw refused("");
  return { socket, address: place.address, port: place.port };
}
