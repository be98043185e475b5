/** A Python with PyTorch for tests: found, or installed once where that is allowed. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { alone } from '../../../scripts/alone.mjs'
import { findPython } from '../../../src/cli/trainer/python.ts'
import { installed } from '../../support/programs.ts'

const CACHE = join(import.meta.dirname, '../../../node_modules/.cache')
/** The second makes the first fast: without it every product of matrices is computed by the slowest of programs. */
const PACKAGES = ['python3-torch', 'libopenblas0-pthread']

let found: Promise<string> | null = null

/** Its path. Throws one line that says how to install it. Looked for once in a process. */
export function pythonWithTorch(): Promise<string> {
  found ??= find()
  return found
}

async function find(): Promise<string> {
  try {
    return await findPython(process.env)
  } catch {
    mkdirSync(CACHE, { recursive: true })
    return alone(join(CACHE, 'installing-torch'), install, () => undefined)
  }
}

/** Whoever waited finds it there. */
async function install(): Promise<string> {
  const before = await findPython(process.env).catch(() => null)
  if (before !== null) return before
  const problem = PACKAGES.map(installed)[0]
  const after = await findPython(process.env).catch(() => null)
  if (after !== null) return after
  throw new Error(`this test needs a Python with PyTorch (${problem}): install it with 'apt-get install -y ${PACKAGES.join(' ')}'`)
}
