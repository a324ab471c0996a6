/** How an attempt is isolated from the machine it runs on. */
export type Sandbox = "bubblewrap" | "none";
