/** The properties of every page of the console. */
export interface PageProps {
  /** What follows the page's own address: one thing of it. */
  item: string | undefined;
  /** The person who is signed in. */
  me: { id: string; name: string };
}
