#!/usr/bin/env node
/** The command. On a Node that is too old it starts itself again on the pinned one, and passes signals and the exit code through. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findPinnedNode, isNewEnough, NODE_LEAST } from './pinned-node.mjs'

/** Set for the second start, so that a pinned Node that is itself too old does not start a third. */
const AGAIN = 'SVC_STARTED_AGAIN'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

function fail(message) {
  process.stderr.write(`svc: ${message}\n`)
  process.exitCode = 2
}

function startAgain(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit', env: { ...process.env, [AGAIN]: '1' } })
  const pass = (signal) => child.kill(signal)
  for (const signal of SIGNALS) process.on(signal, pass)
  child.on('error', (error) => fail(`${node} does not start: ${error.message}`))
  child.on('exit', (code, signal) => {
    for (const name of SIGNALS) process.off(name, pass)
    if (signal === null) process.exitCode = code
    else process.kill(process.pid, signal)
  })
}

function run() {
  delete process.env[AGAIN]
  const built = new URL('../dist/src/cli/index.js', import.meta.url)
  if (!existsSync(fileURLToPath(built))) return fail('not built yet; run: npm run build')
  return import(built.href).then((cli) => cli.main())
}

const pinned = isNewEnough() || process.env[AGAIN] !== undefined ? null : findPinnedNode()
if (isNewEnough()) await run()
else if (pinned !== null) startAgain(pinned)
else fail(`Node ${process.versions.node} is too old; install Node ${NODE_LEAST} or newer`)
