/** How the npm scripts speak, fail and run others. Plain JavaScript for Node 18 and newer, dependencies none. */
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findPinnedNode, isNewEnough, launch } from '../client/bin/launch.mjs'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const at = (...parts) => join(ROOT, ...parts)
/** The oldest Node that the service runs on. */
export const NODE_LEAST = '22.19'
/** Of what is the machine's trouble, and has a cure that somebody has to see to. */
const EXIT_UNUSABLE = 2

export function say(text) {
  process.stderr.write(`${text}\n`)
}

/** Ends the script with a line instead of a stack; what failed has already said why. */
export function runScript(script) {
  script().catch((error) => {
    say(error.message)
    process.exitCode ||= error instanceof Unusable ? EXIT_UNUSABLE : 1
  })
}

export class Unusable extends Error {}

/** The pinned Node first, so that everyone runs on the same one; this one when none is pinned for the platform. */
export function pinnedNode() {
  const pinned = findPinnedNode(ROOT)
  if (pinned !== null) return pinned
  if (isNewEnough(NODE_LEAST)) return process.execPath
  throw tooOld()
}

export const tooOld = () =>
  new Unusable(`Node ${process.versions.node} is too old and none is pinned for this platform; install Node ${NODE_LEAST} or newer`)

/** Runs a program in the root with this terminal. Throws when it fails. */
export async function run(program, args, options = {}) {
  const code = await runForCode(program, args, options)
  if (code !== 0) throw new Error(`failed: ${[program, ...args].map((part) => relative(ROOT, part) || part).join(' ')}`)
}

/** Answers the exit code; a program that is `tied` ends with this process, however that ends. */
export function runForCode(program, args, options = {}) {
  return launch(program, args, { cwd: ROOT, ofNpm: () => process.env.npm_lifecycle_event !== undefined, ...options })
}
