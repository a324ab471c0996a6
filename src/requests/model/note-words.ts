/**
 * The text of a note to a person, as it is stored. It names the delivery whose link and code it wants; both are made when
 * the note is sent (spec/channels 1.1).
 */
export interface NoteWords {
  says: string;
  /** The message whose link stands last. */
  linkOf?: string;
  /** The messages whose codes stand below, each with what it is about. */
  choices?: readonly { delivery: string; title: string }[];
}

/** Returns what a note says to its reader. */
export function noteText(
  { says, linkOf, choices = [] }: NoteWords,
  of: { link(delivery: string): string; code(delivery: string): string },
): string {
  return [
    says,
    ...choices.map(({ delivery, title }) => `${of.code(delivery)}: ${title}`),
    ...(linkOf === undefined ? [] : [of.link(linkOf)]),
  ].join("\n");
}
