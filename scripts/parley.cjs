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
  // Agents let a tool run after another failure of its hook.
  process.exitCode = process.argv[2] === "hook" ? 2 : 1;
} else {
  run(process.argv.slice(2));
}

function run(argv) {
  // The program of hooks starts in a fraction of the time.
  var hook = argv[0] === "hook" ? loadHook(argv) : undefined;
  if (hook && hook.isHook(argv)) return hook.decideHook(argv);
  // For this one line nothing else is loaded.
  if (argv[0] === "--version" || argv[0] === "-v") return console.log(require("../package.json").version);
  // From here on Node keeps what it compiles: a start costs about half the processor time.
  require("node:module").enableCompileCache(
    require("node:path").join(__dirname, "..", "node_modules", ".cache", "parley"),
  );
  import("../lib/main.js");
}

/** A program of hooks that is gone, empty or cut lets no tool run; the commands around it go on. */
function loadHook(argv) {
  try {
    var hook = require("./hook/parley.cjs");
    if (hook.isHook && hook.decideHook) return hook;
  } catch (_error) {
    // It is not there, does not parse, or ends before its end.
  }
  var isCommand =
    argv.length < 2 ||
    ["install", "uninstall", "-h", "--help"].some(function (word) {
      return argv.includes(word);
    });
  return {
    isHook: function () {
      return !isCommand;
    },
    decideHook: blockBroken,
  };
}

function blockBroken() {
  console.error(
    "Parley denied it: its program of hooks, " +
      require("node:path").join(__dirname, "hook", "parley.cjs") +
      ", is empty or cut: install Parley again by npm install --global @parley/parley.",
  );
  process.exitCode = 2;
}
