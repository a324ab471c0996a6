/** The tokens that a model call uses, or may use at most. */
export interface Tokens {
  input: number;
  output: number;
}

/**
 * The monthly budget of models. Each call reserves its cost before it spends it, so that the limit holds even if a
 * process dies in between.
 */
export interface ModelBudget {
  /** True while this month has anything left. */
  isLeft(): Promise<boolean>;
  /** Takes this much from what is left of the month; null where there is not that much. */
  reserve(most: Tokens): Promise<Reservation | null>;
}

export interface Reservation {
  /** Gives back what was not used; null where nobody knows what was. */
  settle(used: Tokens | null): Promise<void>;
}
