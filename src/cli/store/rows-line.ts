/** Says how many rows a store has, with their digest and the end of its record: equal wherever the store goes. */
export function rowsLine(line: { rows: number; sha256: string; recordEntries: number; recordHash: string }): string {
  const record = line.recordEntries === 0 ? "" : `, the last of them ${line.recordHash}`;
  return `rows    ${line.rows}, SHA-256 ${line.sha256}\nrecord  ${line.recordEntries} entries in the chain${record}`;
}
