/** A virtual environment with GEPA, made once. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { alone } from '../../scripts/alone.mjs'

export const GEPA = 'GEPA 0.1.4'
const REQUIREMENT = 'gepa==0.1.4'
const CACHE = join(import.meta.dirname, '../../node_modules/.cache')
const INSTALL_MILLISECONDS_MAX = 300_000
const run = promisify(execFile)

/** The path of its Python. Throws where it cannot be made: no Python, no network. A killed run leaves no partial environment. */
export function pythonWithGepa(): Promise<string> {
  mkdirSync(CACHE, { recursive: true })
  const folder = join(CACHE, `svc-${REQUIREMENT.replace('==', '-')}`)
  const python = join(folder, 'bin', 'python')
  const make = async (): Promise<string> => {
    if (existsSync(join(folder, 'whole'))) return python
    rmSync(folder, { recursive: true, force: true })
    await run('python3', ['-m', 'venv', folder])
    const words = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', REQUIREMENT]
    await run(python, words, { timeout: INSTALL_MILLISECONDS_MAX })
    mkdirSync(join(folder, 'whole'))
    return python
  }
  return alone(join(CACHE, 'installing-gepa'), make, () => undefined)
}
