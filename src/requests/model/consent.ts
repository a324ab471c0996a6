/** Returns the text whose SHA-256 an approval is bound to (spec/a2h 10). `kwargs` is canonical JSON. */
export function consentText(fn: string, kwargs: string): string {
  return `{"fn":${JSON.stringify(fn)},"kwargs":${kwargs}}`;
}
