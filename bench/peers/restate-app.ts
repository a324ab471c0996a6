/**
 * The application that asks for decisions on Restate. Its one function makes an awakeable, publishes the awakeable's id
 * by a durable step, and returns what the awakeable is resolved with.
 *
 *     node bench/peers/restate-app.ts FOLDER PORT
 *
 * FOLDER holds the packages of the peers. Each id goes to PORT as a line: the token of the request, a blank, the id.
 * It prints its address when it is ready.
 */
import { connect } from "node:net";
import { importFrom } from "./packages.ts";

interface Context {
  awakeable<T>(): { id: string; promise: Promise<T> };
  run(name: string, action: () => void): Promise<void>;
}

interface Restate {
  service(definition: {
    name: string;
    handlers: Record<string, (context: Context, ask: Ask) => Promise<unknown>>;
  }): object;
  serve(options: { services: object[]; port: number }): Promise<number>;
}

interface Ask {
  token: string;
}

const [folder = ".", port] = process.argv.slice(2);
const { service, serve } = (await importFrom(folder, "@restatedev/restate-sdk")) as Restate;
const ids = connect({ host: "127.0.0.1", port: Number(port), noDelay: true });
ids.on("error", () => process.exit(1));

const decisions = service({
  name: "decisions",
  handlers: {
    async ask(context, { token }) {
      const { id, promise } = context.awakeable();
      await context.run("publish", () => void ids.write(`${token} ${id}\n`));
      return promise;
    },
  },
});
console.log(`http://127.0.0.1:${await serve({ services: [decisions], port: 0 })}`);
process.once("SIGTERM", () => process.exit(0));
