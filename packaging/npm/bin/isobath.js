#!/usr/bin/env node
// Starts the program, which is in a package per platform; npm installs the one that fits this machine.
"use strict";

const { spawnSync } = require("node:child_process");

const platform = `@isobath/${process.platform}-${process.arch}`;
const name = process.platform === "win32" ? "isobath.exe" : "isobath";
let program;
try {
  program = require.resolve(`${platform}/bin/${name}`);
} catch {
  console.error(
    `isobath: the package ${platform} is not installed. There may be none for this platform, or npm was run ` +
      "with --omit=optional; build from source instead: cargo install --locked --path crates/cli",
  );
  process.exit(1);
}
const run = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (run.error) {
  console.error(`isobath: cannot start ${program}: ${run.error.message}`);
  process.exit(1);
}
if (run.signal) process.kill(process.pid, run.signal);
process.exit(run.status ?? 1);
