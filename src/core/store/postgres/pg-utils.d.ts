/** The driver's own conversion of values to the texts and bytes that go on the wire; its types leave it out. */
declare module "pg/lib/utils.js" {
  const utils: { prepareValue(value: unknown): string | Buffer | null };
  export default utils;
}
