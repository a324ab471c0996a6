import { parentPort } from "node:worker_threads";
import { draw, type Drawing } from "./draw.ts";

parentPort?.on("message", (drawing: Drawing) => {
  const drawn = draw(drawing);
  parentPort?.postMessage(drawn, [drawn.bytes.buffer]);
});
parentPort?.postMessage({});
