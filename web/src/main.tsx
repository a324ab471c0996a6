import "./tokens.css";
import "./base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { render } from "preact";
import { isAuthorKnown } from "./author.ts";
import { startLive } from "./live.ts";
import { queries } from "./queries.ts";
import { registerServiceWorker } from "./register.ts";
import { Shell } from "./shell.tsx";

const root = document.getElementById("app");
if (root) {
  render(
    <QueryClientProvider client={queries}>
      <Shell />
    </QueryClientProvider>,
    root,
  );
}
startLive();
if (!isAuthorKnown()) void import("./session.ts").then(({ learnAuthor }) => learnAuthor());
if (import.meta.env.PROD) void registerServiceWorker();
