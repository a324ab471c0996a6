/** How an attempt is isolated from the machine it runs on. */
export const SANDBOXES = ["bubblewrap", "none"] as const;
export type SandboxKind = (typeof SANDBOXES)[number];
