/** The server has refused, in a sentence for people. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, says: string) {
    super(says);
    this.status = status;
  }
}
