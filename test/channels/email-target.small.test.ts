import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parseEmail } from "../../src/channels/email/target.ts";
import { mailAddress, mailbox } from "../../src/lib/mail-address.ts";
import { emailChannel } from "../../src/channels/email/email.ts";
import { ANA, QUIET, SETTINGS } from "./mail.ts";

const problems = (input: Record<string, unknown>): string[] => {
  const parsed = parseEmail({ address: ANA, ...input });
  return "errors" in parsed ? parsed.errors.map(({ path, code }) => `${path} ${code}`) : [];
};

describe("a mail channel as an agent sends it", () => {
  it("is a copy for each recipient, once, with the same visible headers", () => {
    const parsed = parseEmail({
      address: "Ana@People.Example",
      context_about_user: "keeps the money",
      additional_recipients: [
        { address: "bo@people.example", context_about_user: "x" },
        { address: "BO@people.example", field: "cc" },
        { address: "cy@people.example", field: "cc" },
        { address: "dee@people.example", field: "bcc" },
        { address: "ana@people.example", field: "bcc" },
        { address: "eve@people.example", field: null },
      ],
      subject: null,
      template: "<p>{{ anything }}</p>",
    });
    assert.ok("target" in parsed);
    const settings = { to: [ANA, "bo@people.example", "eve@people.example"], cc: ["cy@people.example"] };
    assert.deepEqual(parsed.target, { via: "email", to: ANA, informed: false, settings });
    assert.deepEqual(
      parsed.others.map(({ to, informed }) => [to, informed]),
      [
        ["bo@people.example", false],
        ["cy@people.example", false],
        ["dee@people.example", true],
        ["eve@people.example", false],
      ],
    );
    assert.ok(parsed.others.every((other) => other.settings === parsed.target.settings));
  });

  it("takes both spellings of the threading fields, with or without brackets, the plain one first", () => {
    const settingsOf = (input: Record<string, unknown>) => {
      const parsed = parseEmail({ address: ANA, ...input });
      return "target" in parsed ? parsed.target.settings : assert.fail(JSON.stringify(parsed.errors));
    };
    const plain = { subject: "a", in_reply_to_message_id: "b@c", references_message_id: "<d@e>" };
    const experimental = {
      experimental_subject_line: "f",
      experimental_in_reply_to_message_id: "g@h",
      experimental_references_message_id: "<i@j>",
    };
    const visible = { to: [ANA], cc: [] };
    const wanted = { ...visible, subject: "a", inReplyTo: "<b@c>", references: "<d@e>" };
    assert.deepEqual(settingsOf(plain), wanted);
    assert.deepEqual(settingsOf({ ...experimental, ...plain }), wanted);
    assert.deepEqual(settingsOf(experimental), { ...visible, subject: "f", inReplyTo: "<g@h>", references: "<i@j>" });
    assert.deepEqual(settingsOf({ ...experimental, subject: null, in_reply_to_message_id: "" }), {
      ...visible,
      subject: "f",
      inReplyTo: "<g@h>",
      references: "<i@j>",
    });
  });

  for (const [input, wanted] of [
    [{ address: undefined }, ["/email/address required"]],
    [{ address: 7 }, ["/email/address pattern"]],
    [{ address: `${ANA}\n` }, ["/email/address pattern"]],
    [{ address: `${ANA},bo@people.example` }, ["/email/address pattern"]],
    [{ address: `Ana <${ANA}>` }, ["/email/address pattern"]],
    [{ subject: "a\r\nBcc: b@c" }, ["/email/subject pattern"]],
    [{ subject: "x".repeat(999) }, ["/email/subject too_long"]],
    [{ subject: 1 }, ["/email/subject type"]],
    [{ in_reply_to_message_id: "a b@c" }, ["/email/in_reply_to_message_id pattern"]],
    [{ in_reply_to_message_id: "a@b>\r\nX: y" }, ["/email/in_reply_to_message_id pattern"]],
    [{ experimental_references_message_id: "<a@b><c@d>" }, ["/email/experimental_references_message_id pattern"]],
    [{ bcc: ANA }, ["/email/bcc unknown_field"]],
    [{ template: "x".repeat(100_001) }, ["/email/template too_long"]],
    [{ template: "é".repeat(60_000) }, ["/email/template too_long"]],
    [{ context_about_user: "x".repeat(501) }, ["/email/context_about_user too_long"]],
    [{ additional_recipients: ANA }, ["/email/additional_recipients type"]],
    [{ additional_recipients: Array(21).fill({ address: ANA }) }, ["/email/additional_recipients too_long"]],
    [{ additional_recipients: [ANA] }, ["/email/additional_recipients/0 type"]],
    [{ additional_recipients: [{ address: ANA }, {}] }, ["/email/additional_recipients/1/address required"]],
    [{ additional_recipients: [{ address: ANA, field: "Bcc" }] }, ["/email/additional_recipients/0/field pattern"]],
    [{ additional_recipients: [{ address: ANA, name: "Ana" }] }, ["/email/additional_recipients/0/name unknown_field"]],
  ] as [Record<string, unknown>, string[]][]) {
    it(`is refused: ${JSON.stringify(input).slice(0, 60)}`, () => assert.deepEqual(problems(input), wanted));
  }
});

describe("a mail address", () => {
  it("is one addr-spec, and comes back in lower case with its domain in ASCII", () => {
    for (const [text, wanted] of [
      ["A.b+C@Example.COM", "a.b+c@example.com"],
      ["ana@Bücher.example", "ana@xn--bcher-kva.example"],
      ["ana@localhost", "ana@localhost"],
      ["ana@127.0.0.1", "ana@127.0.0.1"],
    ] as const) {
      assert.equal(mailAddress(text), wanted);
    }
    for (const text of [
      "",
      "ana",
      "@b",
      "ana@",
      "a@b@c",
      "a b@c",
      "ana@b c",
      "ana@b,c@d",
      "<ana@b>",
      '"a b"@c',
      "ana.@b",
      "a..b@c",
      "ana@b\n",
      "ana@[127.0.0.1]",
      "ana@b/c",
      "ana@b:25",
      "ana@-b",
      "ana@b..c",
      "an\u00e4@b",
      "ana@b%0d%0a.c",
      `${"x".repeat(65)}@b`,
      `ana@${"x.".repeat(130)}c`,
    ]) {
      assert.equal(mailAddress(text), undefined, text);
    }
  });

  it("never holds what could end a header or name a second recipient", () => {
    const near = fc.stringMatching(/^[a-z@.,;<>" \r\n:%\\\u00a0\uff0c\uff20-]{0,12}$/);
    fc.assert(
      fc.property(fc.oneof(near, fc.string({ unit: "binary" })), near, (local, domain) => {
        const found = mailAddress(`${local}@${domain}`) ?? "x@y";
        assert.match(found, /^[!-~]+$/);
        assert.doesNotMatch(found, /[,;:<>"()[\]\\\s]|@.*@/);
      }),
      { numRuns: 3000 },
    );
  });

  it("may have a name before it, in the settings", () => {
    assert.deepEqual(mailbox("Parley <P@x.example>"), { name: "Parley", address: "p@x.example" });
    assert.deepEqual(mailbox('"Parley, Inc" <p@x.example>'), { name: "Parley, Inc", address: "p@x.example" });
    assert.deepEqual(mailbox("p@x.example"), { name: "", address: "p@x.example" });
    assert.equal(mailbox("Parley"), undefined);
    assert.equal(mailbox("a <b@c> <d@e>"), undefined);
  });
});

describe("the mail channel", () => {
  it("is inert without a server to send through, or an address to write from", () => {
    assert.ok(emailChannel(SETTINGS, QUIET));
    assert.equal(emailChannel({ ...SETTINGS, smtpUrl: undefined }, QUIET), undefined);
    assert.equal(emailChannel({ ...SETTINGS, from: undefined }, QUIET), undefined);
  });

  it("has no hook without a secret", () => {
    assert.deepEqual(emailChannel(SETTINGS, QUIET)?.inbound?.hooks, []);
    const [hook] = emailChannel({ ...SETTINGS, hookSecret: "whsec_c2VjcmV0" }, QUIET)?.inbound?.hooks ?? [];
    assert.equal(hook?.path, "/hooks/email");
  });
});
