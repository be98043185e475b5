#!/usr/bin/env node
/** The command `svc-client`: checks that this Node can run it, then hands over. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`svc-client needs Node 22.19 or newer; this is ${process.versions.node}`)
  process.exit(1)
}
// Older versions of Node announce that their SQLite is experimental; only its file lock is used here.
process.removeAllListeners('warning')
const { main } = await import('../dist/main.js')
process.exitCode = await main(process.argv.slice(2), process.env, process)
