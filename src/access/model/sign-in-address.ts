/**
 * Returns where a code becomes a session, in the room its person comes for: it stands in the fragment, which no server,
 * proxy or log ever sees.
 */
export function signInAddress(url: string, role: "admin" | "member", code: string): string {
  return `${url.replace(/(?<!\/)\/+$/, "")}/${role === "admin" ? "console" : "inbox"}#start=${code}`;
}
