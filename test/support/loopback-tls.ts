import { getCACertificates, setDefaultCACertificates } from "node:tls";

/** A certificate of hooks.example.com and of this machine, made for tests on loopback and known to nobody else. */
export const LOOPBACK_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBgTCCASagAwIBAgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxQYXJsZXkg
dGVzdHMwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBcxFTATBgNV
BAMMDFBhcmxleSB0ZXN0czBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABI2T5Qiz
wxpIF9N4mWFf2WQUC8dnRcc3cqGYnLVM9HySpud4ebbD4qIR92KBUhbOjI/jMnOP
8luhTOIzCrE2e36jYTBfMC0GA1UdEQQmMCSCEWhvb2tzLmV4YW1wbGUuY29tggls
b2NhbGhvc3SHBH8AAAEwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUGVKqkgEg
rBC1GFN2jFLC4gyHIP4wCgYIKoZIzj0EAwIDSQAwRgIhANb9xVUg+KddtOGOKQ8R
YhChMLI8yRn7/bYky9JFv2rqAiEApcMlgH5r34HwTqsZNkdu9mm8819nFZnde/AZ
upnM2d4=
-----END CERTIFICATE-----
`;

/** Its key: no secret, since no program but these tests believes the certificate. */
export const LOOPBACK_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgj+y0puxUw1DHXJPm
cmKXSzni89Ervdq0EtHIh7BNjkWhRANCAASNk+UIs8MaSBfTeJlhX9lkFAvHZ0XH
N3KhmJy1TPR8kqbneHm2w+KiEfdigVIWzoyP4zJzj/JboUziMwqxNnt+
-----END PRIVATE KEY-----
`;

/** This process believes the certificate from now on. */
export function trustLoopback(): void {
  setDefaultCACertificates([...getCACertificates(), LOOPBACK_CERTIFICATE]);
}
