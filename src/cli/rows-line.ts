/** Says how many rows a store has, with their digest and the end of its record: equal wherever the store goes. */
export function rowsLine(said: { rows: number; sha256: string; recordEntries: number; recordHash: string }): string {
  const record = said.recordEntries === 0 ? "" : `, the last of them ${said.recordHash}`;
  return `rows    ${said.rows}, SHA-256 ${said.sha256}\nrecord  ${said.recordEntries} entries in the chain${record}`;
}
