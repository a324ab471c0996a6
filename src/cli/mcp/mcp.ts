import { systemClock } from "../../lib/clock.ts";
import { systemFetch } from "../../lib/network/fetch.ts";
import { command, EXIT } from "../command.ts";
import { bridge } from "./bridge.ts";
import { tellSecondWay } from "../connect/beside.ts";
import { agentKey, serverUrl } from "../server-client.ts";

export const mcp = command({
  takes: {
    "--url URL":
      "the server, else PARLEY_URL, else A2H_BASE_URL, else the one that runs on this computer; its key is in PARLEY_KEY, or in A2H_API_KEY",
  },
  example: "parley mcp",
  async run(flags, io) {
    const url = serverUrl(flags.url, io.env);
    const serving = bridge(process.stdin, {
      url,
      key: agentKey(url, io.env),
      clock: systemClock,
      fetch: systemFetch,
      write: io.out,
      log: io.tell,
      atFirstPrompt: () => void tellSecondWay(io),
    });
    const interrupted = new Promise<"interrupted">((resolve) => {
      io.interrupted.addEventListener("abort", () => resolve("interrupted"), { once: true });
    });
    return (await Promise.race([serving, interrupted])) === "interrupted" ? EXIT.interrupted : EXIT.done;
  },
});
