declare module "http_ece" {
  import type { ECDH } from "node:crypto";

  /** Opens a message of RFC 8188, encrypted for the holder of `privateKey` by RFC 8291. */
  export function decrypt(
    message: Buffer,
    options: { version: "aes128gcm"; privateKey: ECDH; authSecret: string },
  ): Buffer;
}
