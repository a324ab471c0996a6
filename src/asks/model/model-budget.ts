/** What a call of a model takes, or at most takes. */
export interface Tokens {
  input: number;
  output: number;
}

/** What models may cost. Nothing is spent that was not reserved before, so that the limit holds whatever dies in between. */
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
