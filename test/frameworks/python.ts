/** A Python environment with the pinned frameworks, made again when the pins change. */
import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { alone } from '../../scripts/alone.mjs'
import { program } from '../support/programs.ts'

const CACHE = join(import.meta.dirname, '../../node_modules/.cache')
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt')
const run = promisify(execFile)

/** Its path. Concurrent calls wait for each other; a killed run leaves no partial environment. */
export function pythonWithFrameworks(): Promise<string> {
  mkdirSync(CACHE, { recursive: true })
  const folder = join(CACHE, `svc-frameworks-${hash('sha256', readFileSync(REQUIREMENTS)).slice(0, 12)}`)
  const python = join(folder, 'bin', 'python')
  const make = async (): Promise<string> => {
    if (!existsSync(join(folder, 'whole'))) await install(folder, python)
    return python
  }
  return alone(join(CACHE, 'installing-frameworks'), make, () => undefined)
}

async function install(folder: string, python: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  await run(program('python3'), ['-m', 'venv', folder])
  await run(python, ['-m', 'pip', 'install', '--quiet', '--no-compile', '--disable-pip-version-check', '-r', REQUIREMENTS])
  mkdirSync(join(folder, 'whole'))
}
