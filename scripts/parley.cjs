#!/usr/bin/env node
// The command `parley` of the package. Plain old JavaScript, so that a Node of any age can say that it is too old.
"use strict";
var NEEDED = 24;
if (parseInt(process.versions.node, 10) < NEEDED) {
  console.error(
    "Parley needs Node " +
      NEEDED +
      " or newer, and this is " +
      process.version +
      ": install it from https://nodejs.org.",
  );
  process.exitCode = 1;
} else {
  // From here on Node keeps what it compiles: a start costs about half the processor time.
  require("node:module").enableCompileCache(
    require("node:path").join(__dirname, "..", "node_modules", ".cache", "parley"),
  );
  import("../lib/main.js");
}
