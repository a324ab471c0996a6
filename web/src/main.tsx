import "./tokens.css";
import "./base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { render } from "preact";
import { isAuthorKnown } from "./author.ts";
import { textsLoaded, wearLanguage } from "./language.ts";
import { startLive } from "./live.ts";
import { queries } from "./queries.ts";
import { registerServiceWorker } from "./register.ts";
import { Shell } from "./shell.tsx";

wearLanguage();
const root = document.getElementById("app");
const show = (): void => {
  if (!root) return;
  render(
    <QueryClientProvider client={queries}>
      <Shell />
    </QueryClientProvider>,
    root,
  );
};
void textsLoaded().then(show);
startLive();
if (!isAuthorKnown()) void import("./session.ts").then(({ learnAuthor }) => learnAuthor());
if (import.meta.env.PROD) void registerServiceWorker();
