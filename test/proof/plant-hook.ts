/**
 * Loaded before anything else by `node --import`: swaps one text of one source file while Node loads it, so that no copy
 * of the tree is made. A text that does not stand there exactly once ends the process.
 */
import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { plantFromEnvironment } from "./plant-environment.ts";

const plant = plantFromEnvironment();
if (plant) {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (url !== plant.url || loaded.source === undefined || loaded.source === null) return loaded;
      const source = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
      const parts = source.split(plant.find);
      if (parts.length !== 2) throw new Error(`"${plant.find}" stands ${parts.length - 1} times in ${url}`);
      writeFileSync(plant.mark, "");
      return { ...loaded, source: parts.join(plant.put) };
    },
  });
}
