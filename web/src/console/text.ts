/** The words of the Console, loaded with it. */
export const text = {
  title: "Console",
  signingIn: "Signing in",
  signedInAs: (name: string, role: string) => `Signed in as ${name} (${role})`,
  signOut: "Sign out",
  signedOut: "Nobody is signed in",
  signedOutHint: "Ask the server for a fresh link: run “parley link” where it runs, and open what it prints.",
  codeFailed: "This link does not work any more",
  codeFailedHint: "A link works once, for 30 minutes. Run “parley link” where the server runs to get another.",
  unreachable: "No connection to the server",
  tryAgain: "Try again",
  connect: "Connect an agent",
  connectHint: "Any program that can send HTTP can ask. On this computer it needs no key.",
  remoteHint:
    "From another computer it needs a key: run “parley keys create NAME --scope agent” where the server runs.",
  ask: "Ask a question",
  read: "Read the answers",
  readHint: "With the question_id of the reply; the request waits until there is something to say.",
  environment: "For programs that use the SDK or the command line",
  answer: "Answer",
  answerHint: "Open this address on any device that reaches the server.",
  open: "Open the questions",
} as const;
