const OPEN = "open:";

/**
 * Returns the name under which a gated tool is pinned: `gate/agent:shop-bot/files.write_file`. A slash in the agent's name
 * is written as `%2F`, so that no two agents share a pin.
 */
export function pinName(asker: string, fn: string): string {
  return `gate/${asker.replace(/[%/]/g, encodeURIComponent)}/${fn}`;
}

/**
 * Returns the beginning of the names of all pins that are limited together: those of one agent, or of all programs
 * without a key, because these choose their names.
 */
export function pinsLimitedWith(asker: string): string {
  return asker.startsWith(OPEN) ? `gate/${OPEN}` : pinName(asker, "");
}
