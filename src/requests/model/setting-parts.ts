import type { FunctionWords } from "../facts/function-name.ts";
import { labelOf, type Sorted } from "../facts/labels.ts";
import { textOf, type ArgumentLeaf } from "../facts/leaves.ts";
import { spokenWords } from "../facts/name-words.ts";
import { isState, switchFact } from "../facts/switches.ts";
import { bare, type Part } from "./sentence-parts.ts";
import type { SentenceWords } from "./sentence-words.ts";

/** Functions that set what their arguments are called. */
const SETS = new Set("set change update configure edit modify adjust patch toggle save".split(" "));
const TIME_UNITS = /^(?:second|minute|hour|day|week|month|year)s?$/;
const MOST_SETTINGS = 3;

/** Returns when a call takes effect and for how long: "date 2026-12-20", "duration 60 minutes". */
export function timeParts({ byRole }: Sorted, all: readonly ArgumentLeaf[]): Part[] {
  return byRole("time").map((leaf): Part => {
    const text = textOf(leaf) ?? "";
    const words = spokenWords(leaf.path.at(-1) ?? "");
    const unit = words.at(-1) ?? "";
    if (leaf.value.kind === "number" && TIME_UNITS.test(unit)) {
      const said = [...words.slice(0, -1), text, unit].join(" ");
      return { joint: ", ", weight: 2, say: () => said };
    }
    return { joint: ", ", weight: 2, say: (most) => `${labelOf(leaf, all)} ${bare(text, most)}` };
  });
}

/** Returns the switches and numbers of a function that sets them, and that no other part says. */
export function settingParts(
  { byRole }: Sorted,
  called: FunctionWords,
  all: readonly ArgumentLeaf[],
  say: SentenceWords,
): Part[] {
  if (!SETS.has(called.words[0] ?? "")) return [];
  const switches = byRole("switch").filter((leaf) => !isState(leaf) && switchFact(leaf) === null);
  const numbers = byRole("nothing").filter(({ value }) => value.kind === "number");
  const settings = all.filter((leaf) => switches.includes(leaf) || numbers.includes(leaf));
  return settings.slice(0, MOST_SETTINGS).map((leaf): Part => {
    const { value } = leaf;
    const said = value.kind === "switch" ? (value.on ? say.on : say.off) : (textOf(leaf) ?? "");
    return { joint: ", ", weight: 4, say: () => `${labelOf(leaf, all)} ${said}` };
  });
}
