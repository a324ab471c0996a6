import { fileURLToPath } from "node:url";
import { type DecisionLoad, openFloor } from "../decision-load.ts";
import { type Started, startProgram, together } from "../servers.ts";
import { openDatabase } from "./postgres.ts";

const APP = fileURLToPath(new URL("./dbos-app.ts", import.meta.url));

/** DBOS with its PostgreSQL, and the cycle of a decision on it. */
export interface DbosPeer {
  server: Started;
  load: DecisionLoad;
  close(): Promise<void>;
}

/** Starts an application of DBOS on a PostgreSQL of its own, and opens the cycle. @throws where it does not start */
export async function openDbos(place: {
  /** The packages of the peers. */
  packages: string;
  home: string;
  core?: number | undefined;
  clients: number;
}): Promise<DbosPeer> {
  const { packages, home, core, clients } = place;
  const database = await openDatabase(core);
  try {
    const env = {
      PATH: process.env["PATH"],
      HOME: home,
      NODE_ENV: "production",
      DATABASE_URL: Object.assign(new URL(database.url), { pathname: "/dbos" }).href,
    };
    const app = await startProgram({ args: [APP, packages], env, core });
    const load = openFloor(app.url, clients);
    const server = together(app.url, [app, database]);
    return { server, load, close: () => (load.close(), server.stop()) };
  } catch (error) {
    await database.stop();
    throw error;
  }
}
