import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newFolder, parley } from "../support/program.ts";

describe("parley people add --email", () => {
  const store = { PARLEY_DATA_DIR: newFolder() };
  const add = (...words: string[]) => parley(["people", "add", ...words], store);

  it("adds somebody whom mail reaches, and says what is missing for that", async () => {
    const { code, err } = await add("Ana Ruiz", "--email", "Ana@Example.com");
    assert.equal(code, 0, err);
    assert.match(err, /^No mail is sent yet: set email\.smtp_url and email\.from/m);
    const mail = { PARLEY_SMTP_URL: "smtp://a:b@127.0.0.1:1", PARLEY_EMAIL_FROM: "parley@example.com" };
    const bo = await parley(["people", "add", "Bo", "--email", "bo@example.com"], { ...store, ...mail });
    assert.doesNotMatch(bo.err, /No mail is sent/);
  });

  it("adds nobody where the address is somebody else's, or none", async () => {
    assert.equal((await add("Cleo", "--email", "cleo@example.com")).code, 0);
    const people = async () => (await parley(["people", "list"], store)).out;
    const before = await people();
    const taken = await add("Cleo Two", "--email", "CLEO@example.com");
    assert.deepEqual([taken.code, taken.err], [1, "parley: This address belongs to another human.\n"]);
    const wrong = await add("Dora", "--email", "dora");
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /--email must be one mail address/);
    assert.equal(await people(), before);
  });
});
