/** How asks to named people are limited, how long they are kept, and how people are reminded. */
export interface AddressedRules {
  createsPerMinute: number;
  pendingPerAgent: number;
  /** The deadline of an approval whose asker names none. */
  approvalTimeoutSeconds: number;
  /** Without an answer for so long, the next of a person's channels is tried. */
  fallbackMs: number;
  /** How long an ask is kept once it is over. */
  keptMs: number;
  /** In a Slack channel without a list of names every full member may approve, not only people who are enrolled. */
  slackMembersApprove: boolean;
}

export const DEFAULT_ADDRESSED_RULES: AddressedRules = {
  createsPerMinute: 600,
  pendingPerAgent: 5000,
  approvalTimeoutSeconds: 259_200,
  fallbackMs: 900_000,
  keptMs: 7 * 86_400_000,
  slackMembersApprove: false,
};
