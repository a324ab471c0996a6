import { parentPort } from "node:worker_threads";
import { rules as preset } from "@secretlint/secretlint-rule-preset-recommend";
import { findByOwnRules, settleFinds, type SecretMatch } from "./secret-rules.ts";

/** The texts that one job scans. */
export type SecretJob = readonly { text: string; name?: string | undefined }[];

/** A rule of secretlint, as far as it is used. */
interface Rule {
  meta: { id: string };
  create(context: object, options: object): { file(source: object): unknown };
}
interface Report {
  message: { messageId: string; data?: Readonly<Record<string, string>> };
  range: readonly [from: number, to: number];
}

/**
 * The rules of the preset that are not used. `filter-comments` would let comments in a text switch rules off, and one
 * rule examines only files. Our own rules find passwords in addresses and private keys, in more forms and without the
 * text around them. A test lists all rules in use, so that a new rule is added to `mayHold` too.
 */
const UNUSED = /-rule-(?:filter-comments|gcp|basicauth|database-connection-string|privatekey)$/;
/** Is no secret. */
const ACCOUNT_ID = "AWSAccountID";
const NAMES: Readonly<Record<string, string>> = {
  AWSAccessKeyID: "aws-access-key",
  AWSSecretAccessKey: "aws-secret-key",
  IncomingWebhook: "slack-webhook",
  OPS_TOKEN: "onepassword-token",
};

let reports: Report[] = [];
const context = {
  sharedOptions: {},
  createTranslator: () => (messageId: string, data: object) => ({ messageId, data }),
  report: (report: Report) => reports.push(report),
  ignore: () => undefined,
};
const rules = (preset as unknown as Rule[])
  .filter(({ meta }) => !UNUSED.test(meta.id))
  .map((rule) => rule.create(context, { enableIDScanRule: true }));

parentPort?.on("message", (job: SecretJob) => {
  const finds = job.map(({ text, name }) => settleFinds(text, [...findByPreset(text), ...findByOwnRules(text, name)]));
  parentPort?.postMessage(finds);
});
// The first message says that everything is loaded.
parentPort?.postMessage([]);

function findByPreset(text: string): SecretMatch[] {
  reports = [];
  for (const rule of rules) void rule.file({ content: text, filePath: "", ext: "", contentType: "text" });
  return reports
    .filter(({ message }) => message.messageId !== ACCOUNT_ID)
    .map(({ message: { messageId, data = {} }, range: [start, end] }) => {
      // Some rules return where the assignment begins, but only how long the secret is.
      const secret = Object.values(data)[0] ?? "";
      const place = text.indexOf(secret, start);
      const [from, to] = secret !== "" && place >= 0 ? [place, place + secret.length] : [start, end];
      return { rule: NAMES[messageId] ?? messageId.toLowerCase().replaceAll("_", "-"), from, to };
    });
}
