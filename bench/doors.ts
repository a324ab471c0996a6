/**
 * Measures how long the largest body that each door reads holds the event loop of a real server, and thereby everybody
 * else, whether it then takes it or refuses it, in shapes that are costly in different ways. Prints a table.
 *
 *     npm run bench:doors                 every door
 *     npm run bench:doors -- jobs mcp     those whose name holds one of the words
 */
import { format } from "prettier";
import { doorsOf } from "./door-list.ts";
import { openDoorScene } from "./door-scene.ts";

const TIMES = 3;
/** Parsing is repeated for so long: one time is too short to be measured. */
const PARSE_FOR_MS = 20;

/** Returns the processor time in which this process parses the body as JSON, or undefined if the body is not JSON. */
function parseMs(body: string | Buffer): number | undefined {
  const text = body.toString();
  const before = process.threadCpuUsage();
  for (let times = 1; ; times += 1) {
    try {
      JSON.parse(text);
    } catch {
      return undefined;
    }
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1000;
    if (ms >= PARSE_FOR_MS) return ms / times;
  }
}

const words = process.argv.slice(2);
const lines = ["| door | body | reply | longest turn, ms | times `JSON.parse` |", "| --- | --- | --: | --: | --: |"];
const serial = (i: number): number => Date.now() * 1000 + i;
await using scene = await openDoorScene();
const doors = doorsOf(scene);
let sent = 0;
for (const door of doors) {
  const name = door.variant === undefined ? door.route : `${door.route}, ${door.variant}`;
  if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
  for (const [shape, fill] of Object.entries(door.shapes)) {
    const turns: number[] = [];
    let status = 0;
    let parse: number | undefined;
    for (let i = 0; i < TIMES; i += 1) {
      const request = await door.request(fill(door.bytes), serial((sent += 1)));
      parse = parseMs(request.body);
      await scene.longestTurn();
      const reply = await scene.send(request);
      status = reply.status;
      turns.push(await scene.longestTurn());
    }
    // The first of each kind also compiles what is run.
    const turn = Math.min(...turns);
    const ratio = parse === undefined ? "–" : (turn / parse).toFixed(1);
    lines.push(`| ${name} | ${shape} | ${status} | ${turn.toFixed(0)} | ${ratio} |`);
    console.log(lines.at(-1));
  }
}
if (words.length === 0) {
  const measured = new Set(doors.map(({ route }) => route));
  const rest = (await scene.routes()).filter((route) => !measured.has(route));
  console.log(`Not measured: ${rest.join(", ")}.`);
}
console.log(await format(lines.join("\n"), { parser: "markdown" }));
