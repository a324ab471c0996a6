import type { Plugin } from "vite";

/** The page asks for its font before any style sheet has been read, so text never changes its shape. */
export function fontPreload(fileName: RegExp): Plugin {
  return {
    name: "parley:font-preload",
    transformIndexHtml: {
      order: "post",
      handler: (_html, { bundle }) =>
        Object.keys(bundle ?? {})
          .filter((file) => fileName.test(file))
          .map((file) => ({
            tag: "link",
            attrs: {
              rel: "preload",
              as: "font",
              type: "font/woff2",
              href: `/${file}`,
              crossorigin: true,
            },
            injectTo: "head-prepend" as const,
          })),
    },
  };
}
