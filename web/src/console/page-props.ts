/** The properties of every page of the console. */
export interface PageProps {
  /** The rest of the address, which names one thing on the page. */
  item: string | undefined;
  /** The person who is signed in. */
  me: { id: string; name: string };
}
