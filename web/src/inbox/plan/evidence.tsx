import type { ComponentChildren } from "preact";
import { Typed } from "../arguments/arguments.tsx";
import { DiffLines } from "../arguments/diff-lines.tsx";
import { Prose } from "../../parts/prose.tsx";
import type { Evidence as Piece, WholeAsk } from "../wire.ts";
import styles from "./plan.module.css";
import { text } from "./plan-text.ts";

/** Texts longer than this, in characters, scroll in a box of their own. */
const LONG = 1000;

/** Shows what an agent gives as reasons for its plan. Nothing of it runs, and only this server is asked for its images. */
export function Evidence({ ask, pieces }: { ask: WholeAsk; pieces: readonly Piece[] }) {
  if (pieces.length === 0) return null;
  return (
    <section class={styles.evidence}>
      <h2>{text.evidence}</h2>
      <p class="small muted">{text.evidenceLead(ask.agent)}</p>
      {pieces.map((piece, at) => (
        <figure key={at}>
          <figcaption dir="auto">{piece.title ?? text.kinds[piece.kind]}</figcaption>
          {drawn(piece, at + 1)}
        </figure>
      ))}
    </section>
  );
}

function drawn(piece: Piece, n: number): ComponentChildren {
  const name = piece.title ?? text.kinds[piece.kind];
  switch (piece.kind) {
    case "markdown":
      return <Words name={name} words={piece.text} />;
    case "diff":
      return <DiffLines lines={piece.lines} label={name} />;
    case "table":
      return <Typed name={name} typed={{ kind: "table", is: "table", columns: piece.columns, rows: piece.rows }} />;
    case "link":
      return (
        <>
          <Typed
            name={name}
            typed={{ kind: "link", is: "link", text: piece.text, href: piece.href, host: piece.host }}
          />
          {piece.digest !== null && (
            <code class={styles.digest} dir="ltr">
              {piece.digest}
            </code>
          )}
        </>
      );
    case "image":
      // An address elsewhere would tell somebody that the plan is read.
      return piece.src.startsWith("/people/me/asks/") && <img src={piece.src} alt={piece.title ?? text.image(n)} />;
  }
}

/** Words as their agent wrote them, with emphasis and code; links, images and tags stay text. */
function Words({ name, words }: { name: string; words: string }) {
  const isLong = words.length > LONG;
  return (
    <div
      class={isLong ? styles.long : ""}
      {...(isLong && { tabIndex: 0, role: "region" as const, "aria-label": name })}
    >
      <Prose words={words} />
    </div>
  );
}
