#!/usr/bin/env node
/** The command `svc-client`. On a Node that is too old for what is asked it is started again on the pinned one. */
import { onNode } from './launch.mjs'

const [, , command] = process.argv

/** Importing takes a file lock of the SQLite that newer versions have. */
await onNode('svc-client', command === 'import' ? '22.19' : '20.0', async () => {
  // Older versions of Node announce that their SQLite is experimental; only its file lock is used here.
  process.removeAllListeners('warning')
  const { main } = await import('../dist/main.js')
  process.exitCode = await main(process.argv.slice(2), process.env, process)
})
