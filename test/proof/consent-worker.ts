import { playConsent } from "./consent-play.ts";

/** The wall time at which its parent's box ends. */
const endsAt = Number(process.env["CONSENT_ENDS_AT"] ?? Infinity);

// A process plays several stories at once: most of a step is a wait for a database or a socket.
process.on("message", (seed: number) => {
  void playConsent(seed, { trace: false, endsAt }).then((played) => process.send?.(played, () => {}));
});
// Its servers would keep it alive.
process.on("disconnect", () => process.exit());
