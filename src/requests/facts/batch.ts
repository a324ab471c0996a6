import { canonicalExact, isJsonObject } from "../../lib/json/exact-json.ts";
import { textOf, type ArgumentLeaf } from "./leaves.ts";
import { leavesIn } from "./read-leaves.ts";
import { currencyFor, inMainUnits, type Money } from "./money.ts";
import { roleOf } from "./roles.ts";

const PLAIN = /^(-?)(\d+)(?:\.(\d{1,10}))?$/;
const MOST_ITEMS = 1000;

/** Returns the sum of a list of things that each have one amount of the same currency; null for any other list. */
export function sumOf({ value }: ArgumentLeaf, all: readonly ArgumentLeaf[]): Money | null {
  if (value.kind !== "list" || value.items.length > MOST_ITEMS || !value.items.every(isJsonObject)) return null;
  const amounts = value.items.map((item) => {
    const leaves = leavesIn(canonicalExact(item));
    const [amount, ...others] = leaves.filter((leaf) => roleOf(leaf) === "amount");
    const currency = amount && (currencyFor(amount, leaves) ?? currencyFor(amount, all));
    if (!amount || !currency || others.length > 0) return null;
    return { currency, digits: inMainUnits(amount.words, textOf(amount) ?? "", currency) };
  });
  const [first] = amounts;
  if (!first || !amounts.every((one) => one?.currency === first.currency && PLAIN.test(one.digits))) return null;
  return { amount: added(amounts.map((one) => one?.digits ?? "0")), currency: first.currency };
}

/** Adds decimals digit by digit. */
function added(decimals: readonly string[]): string {
  const parts = decimals.map((decimal) => PLAIN.exec(decimal) ?? []);
  const places = Math.max(...parts.map(([, , , fraction = ""]) => fraction.length));
  const sum = parts.reduce((total, [, sign = "", whole = "0", fraction = ""]) => {
    return total + BigInt(`${sign}${whole}${fraction.padEnd(places, "0")}`);
  }, 0n);
  const digits = (sum < 0n ? -sum : sum).toString().padStart(places + 1, "0");
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  return sum < 0n ? `-${text}` : text;
}
