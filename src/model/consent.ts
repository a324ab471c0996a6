/** Returns the text whose SHA-256 an approval is bound to (contract-a2h.md, section 10). `kwargs` is canonical JSON. */
export function consentText(fn: string, kwargs: string): string {
  return `{"fn":${JSON.stringify(fn)},"kwargs":${kwargs}}`;
}
