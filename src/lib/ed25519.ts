import { createPublicKey, verify } from "node:crypto";
import type { Verify } from "@parley/sdk/receipts";

/** Verifies by Node's own functions, which a program that draws hashes has loaded already. */
export const verifyEd25519: Verify = (publicKey, signature, content) => {
  const x = Buffer.from(publicKey).toString("base64url");
  return verify(null, content, createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x } }), signature);
};
