import { useFilter } from "../filter.ts";

/** The choice of what a list shows, as the address has it behind `name`; the first is the usual one. */
export function useChoice<Which extends string>(options: readonly [Which, ...Which[]], name = "show") {
  const [partOf, choose] = useFilter();
  const which = options.find((one) => one === partOf(name)) ?? options[0];
  const onChoose = (to: Which): void => choose({ [name]: to === options[0] ? "" : to });
  return { which, options, onChoose };
}
