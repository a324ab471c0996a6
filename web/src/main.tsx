import "./tokens.css";
import "./base.css";
import { render } from "preact";
import { isAuthorKnown } from "./author.ts";
import { noteAuthor } from "./note-author.ts";
import { textsLoaded, wearLanguage } from "./language.ts";
import { startLive } from "./live.ts";
import { queries } from "./query/query.ts";
import { registerServiceWorker } from "./register.ts";
import { named } from "./settings.ts";
import { Shell } from "./shell.tsx";

wearLanguage();
const root = document.getElementById("app");
const show = (): void => {
  if (!root) return;
  render(<Shell />, root);
};
void textsLoaded().then(show);
queries.mount();
startLive();
if (!isAuthorKnown()) {
  // Where nobody with a name has ever signed in, there is nothing to ask.
  if (named.get() === "no") void noteAuthor(null);
  else void import("./session.ts").then(({ learnAuthor }) => learnAuthor());
}
if (import.meta.env.PROD) void registerServiceWorker();
