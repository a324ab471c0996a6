import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { pageText, shapedPage } from "../../src/channels/email/html-text.ts";
import { parseEmail } from "../../src/channels/email/target.ts";
import { parseTemplate, renderTemplate, TemplateError } from "../../src/channels/email/template.ts";
import { templateWords } from "../../src/channels/email/template-words.ts";
import { parseExactJson } from "../../src/lib/json/exact-json.ts";
import { accepted, callBody, contactBody, openScene } from "../support/a2h.ts";
import { until } from "../support/addressed.ts";
import { openWorld } from "../support/world.ts";
import { createKey } from "../../src/access/create-key.ts";
import { AGENT, ANA, noticeOf, openChannel, openSink, SIGNAL, targetOf } from "./mail.ts";

const OURS = "https://parley.example";
const exact = (json: string) => parseExactJson(Buffer.from(json), { maxDepth: 64 }) as Record<string, unknown>;
const render = (source: string, values: Record<string, unknown> = {}) => renderTemplate(parseTemplate(source), values);
const problem = (source: string): string => {
  try {
    parseTemplate(source);
    return assert.fail(`${source} was taken`);
  } catch (error) {
    assert.ok(error instanceof TemplateError, String(error));
    return `${error.line} ${error.message}`;
  }
};

describe("an agent's template", () => {
  it("prints what it is given, escaped, and nothing where there is nothing", () => {
    const event = exact(
      '{"spec":{"fn":"pay","kwargs":{"to":"<b>Ana</b>","n":1152921504606846977,"of":[1,2]}},"run_id":"r"}',
    );
    assert.equal(render("{{ event.spec.fn }}({{event.spec.kwargs.to}})", { event }), "pay(&#60;b&#62;Ana&#60;/b&#62;)");
    assert.equal(render('{{ event["run_id"] }} {{ event.spec.kwargs.of[1] }}', { event }), "r 2");
    assert.equal(render("{{ event.none.at.all }}{{ x }}{# said to nobody #}", { event }), "");
    assert.equal(render("{{ event.spec.kwargs.n }}", { event }), "1152921504606846977");
    assert.equal(
      pageText(render("{{ event.spec.kwargs }}", { event })),
      '{"n":1152921504606846977,"of":[1,2],"to":"<b>Ana</b>"}',
    );
    assert.equal(
      pageText(`<pre>${render("{{ event.spec.kwargs.of | tojson(indent=1) }}", { event })}</pre>`),
      "[\n 1,\n 2\n]",
    );
  });

  it("chooses and repeats", () => {
    const source = "{% if type == 'a' %}A{% elif not type or n != 2 %}B{% else %}C{% endif %}";
    assert.deepEqual(
      [{ type: "a" }, {}, { type: "b", n: 1 }, { type: "b", n: 2 }].map((values) => render(source, values)),
      ["A", "B", "B", "C"],
    );
    assert.equal(render("{{ a or b or 'none' }} {{ a and b }}", { b: "B" }), "B ");
    assert.equal(render("{% for one in of %}<{{ one }}>{% endfor %}", { of: [1, [2], "x"] }), "<1><[2]><x>");
    assert.equal(
      render("{% for k, v in of.items() %}{{k}}={{v}};{% endfor %}{{ k }}", { of: { a: 1, b: null } }),
      "a=1;b=;",
    );
    assert.equal(render("a  {%- if yes -%}  b  {%- endif -%}  c", { yes: true }), "abc");
  });

  it("reaches what a value itself holds, and calls nothing", () => {
    const values = { event: exact('{"spec":{"__proto__":{"x":"own"},"list":[1]}}'), text: "abc" };
    for (const path of [
      "event.constructor",
      "event.spec.toString",
      "event.spec.list.length",
      "text.length",
      "constructor",
    ])
      assert.equal(render(`{{ ${path} }}`, values), "", path);
    assert.equal(render("{{ event.spec['__proto__'].x }}", values), "own");
    for (const source of [
      "{{ event.spec.fn() }}",
      "{{ event | safe }}",
      "{{ a + b }}",
      "{{ [1] }}",
      "{{ }}",
      "{{ a b }}",
      "{{ a. }}",
    ])
      assert.match(problem(source), /^1 .* is not understood$/);
    assert.equal(problem("{% set a = 1 %}"), "1 {% set %} has no place here");
    assert.equal(problem("{% include 'x' %}"), "1 {% include %} has no place here");
  });

  it("says in which line it is wrong", () => {
    assert.equal(problem("a\nb {{ x"), "2 }} is missing");
    assert.equal(problem("a\n\n{% if x %}\n{% endfor %}"), "4 {% endfor %} has no place here");
    assert.equal(problem("{% for x %}\n"), "1 {% for %} needs a name, in, and a list");
    assert.equal(problem("{% if a %}\nb\n{% else %}\nc"), "4 {% endif %} is missing");
    assert.equal(problem("{% if a %}".repeat(21)), "1 may be nested 20 deep");
    assert.match(problem(`{{ ${"not ".repeat(300)}a }}`), /^1 /);
  });

  it("ends, however its loops are made, and whatever it holds", () => {
    const many = Array.from({ length: 5000 }, (_, i) => i);
    const loops = `${"{% for a in many %}".repeat(10)}x${"{% endfor %}".repeat(10)}`;
    assert.ok(render(loops, { many }).length <= 200_001);
    assert.ok(render("{% for a in many %}{{ many }}{% endfor %}", { many }).length <= 300_000);
    const part = fc.constantFrom(
      "{{",
      "}}",
      "{%",
      "%}",
      "{#",
      "#}",
      "-",
      "if a",
      "for a in b",
      "endif",
      "endfor",
      "a.b['c']",
      "'",
      "\n",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string({ maxLength: 4 })), { maxLength: 30 }), (parts) => {
        try {
          render(parts.join(""), { a: { b: { c: 1 } }, b: [1, 2] });
        } catch (error) {
          assert.ok(error instanceof TemplateError);
        }
      }),
    );
  });
});

describe("a page made of a template", () => {
  const page = `<html><head><title>No</title><style>p{display:none}</style></head><body onload="x()">
    <h1>Pay</h1><p style="color:red">Call <pre>f({
  "a": 1
})</pre><a href="https://evil.example/approve">Approve</a><img src="https://evil.example/pixel">
    <script>alert(1)</script><ul><li>one</li><li>two &lt;b&gt;</li></ul></body></html>`;

  it("keeps its words, without styles, scripts and where its links lead", () => {
    assert.equal(pageText(page), 'Pay\nCall\nf({\n  "a": 1\n})\nApprove\none\ntwo <b>');
  });

  it("has the characters that HTML names, and no tag made of them", () => {
    const written = "1 &euro; &mdash; &amp;lt; &lt;b&gt; &#x3c;i> &nosuch; &#xd800;";
    assert.equal(pageText(written), "1 € — &lt; <b> <i> &nosuch; \ufffd");
    assert.equal(shapedPage(written), "1 € — &#38;lt; &#60;b&#62; &#60;i&#62; &#38;nosuch; \ufffd");
  });

  it("keeps shapes alone where it is shaped, each closed, with nothing that is loaded or leads anywhere", () => {
    const shaped = shapedPage(page);
    assert.doesNotMatch(shaped, /evil|href|src|style|onload|script|<a|<img|No/);
    assert.match(shaped, /<h1>Pay<\/h1>.*<ul><li>one<\/li><li>two &#60;b&#62;<\/li><\/ul>/s);
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom("<p>", "</p>", "<div x=1>", "</div>", "<b", ">", "</table>", "<td>", "<x>", "a&lt;", "<!--"),
          { maxLength: 40 },
        ),
        (parts) => {
          const open: string[] = [];
          for (const [, slash, name] of shapedPage(parts.join("")).matchAll(/<(\/?)([^>]*)>/g)) {
            assert.match(name ?? "", /^[a-z0-9]+$/);
            if (!slash) open.push(name ?? "");
            else assert.equal(open.pop(), name);
          }
          assert.deepEqual(open, []);
        },
      ),
    );
  });
});

describe("a template in a mail", () => {
  const sources = {
    // Templates from examples for today's clients.
    call: '<p>Agent wants to call <pre>{{event.spec.fn}}({{event.spec.kwargs | tojson(indent=2)}})</pre></p><a href="{{urls.base_url}}?approve">Approve</a>',
    either:
      "{% if type == 'human_contact' %}\n{{ event.spec.msg }}\n{% else %}\nagent {{ event.run_id }} asks for {{event.spec.fn}} with {{event.spec.kwargs}}\n<br><br>\nreply to this email to approve\n{% endif %}",
  };
  async function mailed(template: string, templates: "text" | "sanitized", ask: Parameters<typeof noticeOf>[0] = {}) {
    await using sink = await openSink();
    const channel = openChannel({ smtpUrl: sink.url, templates });
    await channel.send(noticeOf(ask, { target: { ...targetOf(), settings: { to: [ANA], cc: [], template } } }), SIGNAL);
    const { mail } = sink.taken[0] ?? assert.fail("no mail");
    return { text: mail.text ?? "", html: mail.html ?? "" };
  }

  it("stands as text among the agent's words, below what Parley shows", async () => {
    const { text, html } = await mailed(sources.call, "text");
    const shown = '| deploy\n\nArguments:\n\n| {\n|   "to": "prod"\n| }';
    const said = 'In the agent\'s own words:\n\n| Agent wants to call\n| deploy({\n|   "to": "prod"\n| })\n| Approve\n';
    assert.ok(text.includes(shown) && text.includes(said), text);
    assert.ok(text.indexOf(shown) < text.indexOf(said));
    assert.doesNotMatch(html, /href="[^"]*approve/);
    const other = await mailed(sources.either, "text");
    assert.ok(
      other.text.includes('| agent run-7 asks for deploy with {"to":"prod"}\n| reply to this email to approve\n'),
    );
  });

  it("says a question once", async () => {
    const ask = {
      title: "Which colour?",
      words: "Which colour? Blue or red.",
      form: { kind: "reply", options: [] },
      digest: null,
    } as const;
    const { text } = await mailed(sources.either, "text", ask);
    assert.equal(text.split("Which colour? Blue or red.").length, 2, text);
    const more = await mailed("<b>Hurry!</b>", "text", ask);
    assert.ok(more.text.includes("| Which colour? Blue or red.\n\n| Hurry!"), more.text);
  });

  it("keeps its shape behind the bar where the operator lets it", async () => {
    const { text, html } = await mailed("<h1>Look</h1><ul><li onclick=x>one</ul><img src=//evil.example>", "sanitized");
    assert.match(html, /border-left:3px solid #888[^>]*><h1>Look<\/h1><ul><li>one<\/li><\/ul><\/div>/);
    assert.doesNotMatch(html, /evil|onclick/);
    assert.ok(text.includes("| Look\n| one\n"), text);
  });

  it("hides nothing, and cannot grow without end", () => {
    const { view } = noticeOf();
    assert.equal(templateWords("a\u202eb\u200b", view, { isShaped: false, ours: OURS })?.text, "a\\u202eb\\u200b");
    assert.equal(templateWords("<p> </p>", view, { isShaped: true, ours: OURS }), null);
    const long = templateWords("x".repeat(90_000), view, { isShaped: true, ours: OURS });
    assert.deepEqual([long?.text.length, long?.html], [20_001, null]);
  });

  it("is refused with its line when it is posted, or left out with a word about it", async () => {
    const wrong = { address: ANA, template: "<p>\n{{ event.spec.msg" };
    const parsed = parseEmail(wrong, "text");
    assert.deepEqual("errors" in parsed && parsed.errors, [
      { path: "/email/template", code: "pattern", message: "line 2: }} is missing" },
    ]);
    assert.ok("target" in parseEmail(wrong));

    await using sink = await openSink();
    const env = { PARLEY_SMTP_URL: sink.url, PARLEY_EMAIL_FROM: AGENT, PARLEY_EMAIL_TEMPLATES: "text" };
    await using world = await openWorld({ on: "sqlite", env, running: true });
    const { text: key } = await createKey(world.server.ctx, { name: "support", scope: "agent" });
    const post = (body: unknown) =>
      world.call("POST", "/humanlayer/v1/function_calls", { body, headers: { authorization: `Bearer ${key}` } });
    const refused = await post(callBody({ channel: { email: wrong } }));
    assert.deepEqual(
      [refused.status, refused.body.detail],
      [
        422,
        [
          {
            loc: ["body", "spec", "channel", "email", "template"],
            msg: "spec.channel.email.template line 2: }} is missing",
            type: "value_error",
          },
        ],
      ],
    );
    const template = `<b>{{ event.spec.fn }}</b>${"<!-- long -->".repeat(500)}`;
    const taken = await post(callBody({ channel: { email: { address: ANA, template } } }));
    assert.equal(taken.headers.get("parley-notice"), null);
    assert.equal(accepted(taken).spec.channel.email.template, template);
    await until(() => sink.taken.length === 1);
    assert.match(sink.taken[0]?.mail.text ?? "", /own words:\n\n\| issue_refund\n/);

    await using off = await openScene("sqlite");
    const nested = { any_of: [{ inbox: {} }, { email: wrong }] };
    const notShown = await off.agent.post("/human_contacts", contactBody({ channel: nested }));
    assert.equal(accepted(notShown) && notShown.headers.get("parley-notice"), "email-template-off");
  });
});
