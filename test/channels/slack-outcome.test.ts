import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aPress, openSlackScene, say, toldTo } from "./slack-scene.ts";

describe("what became of an answer on Slack", () => {
  it("is nothing to hear again about", async () => {
    await using scene = await openSlackScene();
    scene.verdict = { kind: "repeated", says: "This was heard before." };
    await say(scene, aPress("parley:approve"));
    assert.deepEqual(toldTo(scene), []);
  });

  it("is told as plain text, whatever is in it", async () => {
    await using scene = await openSlackScene();
    scene.verdict = { kind: "already_decided", says: "This is over: approved by <!channel> *A*." };
    await say(scene, aPress("parley:approve"));
    const [note] = scene.slack.of("chat.postEphemeral");
    assert.equal(note?.form["text"], "This is over: approved by &lt;!channel&gt; *A*.");
    assert.deepEqual(note?.json("blocks"), [
      { type: "section", text: { type: "plain_text", text: scene.verdict.says, emoji: false } },
    ]);
  });

  it("is told as a failure where it could not be written down, and is heard when it is said again", async () => {
    await using scene = await openSlackScene();
    const { receive } = scene;
    scene.receive = async () => {
      throw new Error("the store is away");
    };
    const press = aPress("parley:approve");
    await say(scene, press);
    assert.deepEqual(toldTo(scene), ["U0ANA: This could not be recorded just now. Please try again."]);
    scene.receive = receive;
    assert.ok(await say(scene, press));
  });

  it("harms nothing where the person cannot be told", async () => {
    await using scene = await openSlackScene();
    scene.slack.answer("chat.postEphemeral", () => ({ body: { ok: false, error: "user_not_in_channel" } }));
    assert.ok(await say(scene, aPress("parley:approve")));
    assert.match(scene.logged.join(""), /"code":"user_not_in_channel"/);
  });
});
