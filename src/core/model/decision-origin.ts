/** By what somebody decided outside of the inbox. It names nobody, so that it may be kept when the address is not. */
export interface DecisionOrigin {
  /** Id of the message that was answered, or whose link was followed. */
  delivery: string;
  /** The address it came from, as only this server can tell it; absent where a program speaks for its people. */
  addressMac?: string;
}
