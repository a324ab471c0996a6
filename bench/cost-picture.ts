/** One bar: what it is of, and the microseconds of each part. */
interface Bar {
  name: string;
  parts: readonly number[];
}

const COLOURS = ["#1a7f4b", "#3fb97c", "#0969da", "#54aeff", "#9a6700", "#8250df", "#6e7781", "#cf222e"];
const [WIDTH, LEFT, RIGHT, BAR, GAP, ROW] = [760, 96, 72, 34, 22, 24];

/** Draws bars of microseconds, divided into their parts, with a legend, as SVG. */
export function costPicture(parts: readonly string[], bars: readonly Bar[]): string {
  const total = (bar: Bar) => bar.parts.reduce((sum, us) => sum + us, 0);
  const scale = (WIDTH - LEFT - RIGHT) / Math.max(...bars.map(total));
  const legendTop = 20 + bars.length * (BAR + GAP) + 10;
  const height = legendTop + Math.ceil(parts.length / 2) * ROW + 10;
  const lines = bars.flatMap((bar, row) => {
    const y = 20 + row * (BAR + GAP);
    let x = LEFT;
    const pieces = bar.parts.map((us, i) => {
      const piece = `  <rect x="${x.toFixed(1)}" y="${y}" width="${(us * scale).toFixed(1)}" height="${BAR}" fill="${COLOURS[i]}"><title>${parts[i]}: ${us.toFixed(0)} µs</title></rect>`;
      x += us * scale;
      return piece;
    });
    return [
      `  <text x="${LEFT - 12}" y="${y + 22}" text-anchor="end">${bar.name}</text>`,
      ...pieces,
      `  <text x="${(x + 8).toFixed(1)}" y="${y + 22}">${total(bar).toFixed(0)} µs</text>`,
    ];
  });
  const legend = parts.flatMap((part, i) => {
    const [x, y] = [i % 2 === 0 ? LEFT : LEFT + 310, legendTop + Math.floor(i / 2) * ROW];
    return [
      `  <rect x="${x}" y="${y}" width="14" height="14" fill="${COLOURS[i]}" />`,
      `  <text x="${x + 22}" y="${y + 12}">${part}</text>`,
    ];
  });
  const said = bars.map(
    (bar) => `${bar.name}: ${parts.map((part, i) => `${part} ${bar.parts[i]?.toFixed(0)}`).join(", ")}`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title description">
  <title id="title">Processor time of a decision</title>
  <desc id="description">Microseconds of the server for one decision. ${said.join(". ")}.</desc>
  <style>
    text { font: 14px system-ui, sans-serif; fill: #1b1f24; }
    .page { fill: #ffffff; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .page { fill: #0d1117; }
    }
  </style>
  <rect class="page" width="${WIDTH}" height="${height}" />
${[...lines, ...legend].join("\n")}
</svg>
`;
}
