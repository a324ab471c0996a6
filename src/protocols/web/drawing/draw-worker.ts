import { parentPort } from "node:worker_threads";
import { draw, type Drawing } from "./draw.ts";

parentPort?.on("message", (drawing: Drawing) => {
  const drawn = draw(drawing);
  const bytes = drawn.rows ?? drawn.editor?.json;
  parentPort?.postMessage(drawn, bytes ? [bytes.buffer] : []);
});
parentPort?.postMessage({});
