import { printable } from "../../lib/printable.ts";
import { unopenedBecause } from "../../lib/receipt.ts";
import type { KnownKeys } from "./source.ts";

/** Returns the sentence about a signed text that none of the keys opened. */
export async function whyUnopened(jws: string, { set, from }: KnownKeys): Promise<string> {
  const { because, kid } = await unopenedBecause(jws, set);
  if (because === "no receipt") return "This is no receipt: it is not a signed text as a server hands it out.";
  if (because === "unknown key")
    return `The text names a key that is none of ${from}: ${printable(kid)}. Another server signed it, or nobody did.`;
  if (because === "retired key")
    return `It names a retired key: ${printable(kid)}. It is of a later decision, is handed out only now, or was changed.`;
  return "The signature does not match: this is no receipt of that server, or it was changed.";
}

/** Returns the sentence about who vouches for a signed text. */
export function vouchedLine({ iss }: { iss: string }, { from }: KnownKeys): string {
  const isSame = URL.canParse(from) && URL.canParse(iss) && new URL(from).origin === new URL(iss).origin;
  return `Signed by a key of ${from}${isSame ? "" : `; the receipt calls its server ${iss}`}.`;
}
