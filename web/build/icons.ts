/** Draws the app's icons into `public/icons`: two people talking, as two speech bubbles. Run by `npm run icons`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";

type Colour = readonly [red: number, green: number, blue: number];
type Paint = (x: number, y: number) => readonly [...Colour, alpha: number];

const PINE: Colour = [0x0b, 0x6b, 0x57];
const PAPER: Colour = [0xf6, 0xf5, 0xf1];
const MINT: Colour = [0x7f, 0xd1, 0xb9];
const SAMPLES = 4;

const folder = join(import.meta.dirname, "../public/icons");
mkdirSync(folder, { recursive: true });

/** A circle with one square corner: the plainest speech bubble there is. */
function bubble(x: number, y: number, at: { x: number; y: number; radius: number; corner: 1 | -1 }): boolean {
  const across = (x - at.x) * at.corner;
  const down = y - at.y;
  if (Math.hypot(across, down) <= at.radius) return true;
  const soft = at.radius * 0.16;
  const dx = Math.max(across - (at.radius - soft), 0);
  const dy = Math.max(down - (at.radius - soft), 0);
  return across >= 0 && down >= 0 && Math.hypot(dx, dy) <= soft;
}

const FRONT = { x: 0.425, y: 0.42, radius: 0.235, corner: -1 } as const;
const BEHIND = { x: 0.66, y: 0.615, radius: 0.165, corner: 1 } as const;
const GAP = { ...FRONT, radius: 0.28 } as const;

function mark(x: number, y: number): Colour | null {
  if (bubble(x, y, FRONT)) return PAPER;
  return bubble(x, y, BEHIND) && !bubble(x, y, GAP) ? MINT : null;
}

function inRoundedSquare(x: number, y: number, radius: number): boolean {
  const dx = Math.max(Math.abs(x - 0.5) - 0.5 + radius, 0);
  const dy = Math.max(Math.abs(y - 0.5) - 0.5 + radius, 0);
  return Math.hypot(dx, dy) <= radius;
}

const rounded: Paint = (x, y) => (inRoundedSquare(x, y, 0.23) ? [...(mark(x, y) ?? PINE), 255] : [0, 0, 0, 0]);
const full: Paint = (x, y) => [...(mark(x, y) ?? PINE), 255];
/** Within the circle that every mask keeps. */
const maskable: Paint = (x, y) => [...(mark((x - 0.5) / 0.8 + 0.5, (y - 0.5) / 0.8 + 0.5) ?? PINE), 255];
/** Android shows only the alpha of a badge. */
const silhouette: Paint = (x, y) => [255, 255, 255, mark((x - 0.5) / 1.3 + 0.5, (y - 0.5) / 1.3 + 0.5) ? 255 : 0];

function png(size: number, paint: Paint): Buffer {
  const rows = Buffer.alloc(size * (size * 4 + 1));
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const sum = [0, 0, 0, 0];
      for (let sample = 0; sample < SAMPLES ** 2; sample++) {
        const x = (column + ((sample % SAMPLES) + 0.5) / SAMPLES) / size;
        const y = (row + (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES) / size;
        const [red, green, blue, alpha] = paint(x, y);
        sum.forEach(
          (_, channel) => (sum[channel]! += channel === 3 ? alpha : [red, green, blue][channel]! * (alpha / 255)),
        );
      }
      const weight = sum[3]! / 255 || 1;
      const pixel = [sum[0]! / weight, sum[1]! / weight, sum[2]! / weight, sum[3]! / SAMPLES ** 2];
      rows.set(pixel.map(Math.round), row * (size * 4 + 1) + 1 + column * 4);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, part("IHDR", header), part("IDAT", deflateSync(rows, { level: 9 })), part("IEND")]);
}

function part(name: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

function svgBubble({ x, y, radius, corner }: typeof FRONT | typeof BEHIND | typeof GAP, fill: string): string {
  const [cx, cy, r] = [x * 100, y * 100, radius * 100];
  const soft = r * 0.16;
  const side = cx + corner * r;
  const sweep = corner < 0 ? 1 : 0;
  const arc = `A${r} ${r} 0 1 ${sweep} ${cx} ${cy + r}`;
  const foot = `H${side - corner * soft}Q${side} ${cy + r} ${side} ${cy + r - soft}Z`;
  return `<path fill="${fill}" d="M${side} ${cy}${arc}${foot}"/>`.replace(/\d+\.\d+/g, (n) => String(+(+n).toFixed(2)));
}

const SVG =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><rect width="100" height="100" rx="23" fill="#0b6b57"/>` +
  `${svgBubble(BEHIND, "#7fd1b9")}${svgBubble(GAP, "#0b6b57")}${svgBubble(FRONT, "#f6f5f1")}</svg>\n`;

writeFileSync(join(folder, "icon.svg"), SVG);
writeFileSync(join(folder, "icon-192.png"), png(192, rounded));
writeFileSync(join(folder, "icon-512.png"), png(512, rounded));
writeFileSync(join(folder, "icon-maskable-512.png"), png(512, maskable));
writeFileSync(join(folder, "apple-touch-icon.png"), png(180, full));
writeFileSync(join(folder, "notification.png"), png(192, full));
writeFileSync(join(folder, "badge.png"), png(96, silhouette));
