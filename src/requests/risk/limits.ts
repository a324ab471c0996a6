/** Above so much, an amount is grave: in the main unit of each currency that has a limit. */
export type AmountLimits = Readonly<Record<string, number>>;

/** About ten thousand euros each. */
const DEFAULT_AMOUNT_LIMITS: AmountLimits = {
  EUR: 10_000,
  USD: 10_000,
  GBP: 10_000,
  CHF: 10_000,
  CAD: 15_000,
  AUD: 15_000,
  NZD: 15_000,
  SGD: 15_000,
  JPY: 1_500_000,
  CNY: 75_000,
  SEK: 110_000,
  NOK: 110_000,
  DKK: 75_000,
  PLN: 45_000,
  CZK: 250_000,
  HUF: 4_000_000,
  INR: 900_000,
  BRL: 55_000,
};

/**
 * Returns whether an amount is above the limit of its currency: the operator's own, else the one that ships. An amount
 * without a limit is not judged once it is large in any currency that has one.
 */
export function overLimit(amount: number, currency: string | null, own: AmountLimits): "yes" | "no" | "unknown" {
  const limits = { ...DEFAULT_AMOUNT_LIMITS, ...own };
  const limit = currency === null ? undefined : limits[currency];
  if (limit !== undefined) return amount > limit ? "yes" : "no";
  return amount > Math.min(...Object.values(limits)) ? "unknown" : "no";
}
