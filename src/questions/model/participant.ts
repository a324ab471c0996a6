/**
 * The facts that a request shows about the person who answers. Fingerprint and network are kept only as keyed hashes.
 */
export interface Caller {
  /** The signed-in person, or the person a key of scope `answer` is bound to. */
  person?: string;
  /** SHA-256 of the session or key that speaks for the person: what is subscribed to ends with it. */
  credential?: string;
  /** A key speaks for the person: a program, which may well hold the key of an agent of the same person too. */
  byKey?: boolean;
  /** The participant named by a valid credential. */
  participant?: string;
  /** Keyed hash of the fingerprint, where one was sent. */
  fingerprint?: string;
  /** Keyed hash of the caller's network under the day's salt. */
  network: string;
  /** IANA zone, where the caller sent one the platform knows. */
  timeZone?: string;
}

/**
 * Who answers, as far as one answer per person and question is concerned (spec/ask-a-human 4.1).
 *
 * `person` is the name under which responses and points are kept. `names` holds it and every other name the same person
 * may have answered under.
 */
export interface AnsweringIdentity {
  person: string;
  names: readonly string[];
  tier: "anonymous" | "returning" | "named";
  timeZone: string;
}

/** How long a zone stands before it can be changed again. */
export const TIME_ZONE_STANDS_MS = 86_400_000;

/** Who answered a question, in its outcome and in the record: which of the anonymous people it was, neither says. */
export const CROWD = "crowd";
