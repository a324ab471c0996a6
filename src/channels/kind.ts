/** One documented field of a channel, as `GET /channels` prints it; names are camelCase. */
export interface ChannelField {
  type: "string" | "boolean" | "array";
  description: string;
  required: boolean;
}

/** The things that a person is known by outside. */
export type IdentityKind = "slack" | "email" | "phone";

/** The facts of one kind of channel that the rest of the server asks for, whether or not it is configured. */
export interface ChannelKind {
  title: string;
  /** The identity of a person that an address on it is; null where an address identifies nobody. */
  identity: IdentityKind | null;
  /** True for an address that people share: it is nobody's identity. */
  isPlace?: (address: string) => boolean;
  /** The first is the address. */
  fields: Readonly<Record<string, ChannelField>>;
  /** Second names of fields, in snake_case. */
  aliases?: Readonly<Record<string, string>>;
  /** The rule by which people are written down while the channel is not configured. */
  address: {
    min?: number;
    max: number;
    /** Returns the address as it is stored; undefined for any other text. */
    read(text: string): string | undefined;
    /** The sentence about any other text; without a capital it follows the name of the field. */
    says: string;
    /** The members of a target beside its address; where it is missing, empty settings. */
    rest?(address: string): Readonly<Record<string, unknown>>;
  };
  /** The words for a stranger who decides by it, if "an addressee" is not enough. */
  decider?: string;
  /** An answer arrives long after it was sent: its result goes out as a message of its own. */
  sendsResult?: true;
  /** The things to check when it reaches nobody. */
  remedy: string;
}
