/** A program of the operator's that passes requests on to people (spec/channels 5.6). */
export interface WebhookDestination {
  url: string;
  /** `whsec_…`: signs both ways. */
  secret: string;
  /** Ids of the people it may speak for. */
  humans: readonly string[];
}
