#!/usr/bin/env node
/** The command `svc-client`: checks that this Node can run it, then hands over. */
const [, , command] = process.argv
const [leastMajor, leastMinor] = command === 'import' ? [22, 19] : [20, 0]
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  console.error(`svc-client ${command ?? ''} needs Node ${leastMajor}.${leastMinor} or newer; this is ${process.versions.node}`)
  process.exit(1)
}
// Older versions of Node announce that their SQLite is experimental; only its file lock is used here.
process.removeAllListeners('warning')
const { main } = await import('../dist/main.js')
process.exitCode = await main(process.argv.slice(2), process.env, process)
