/** Runs the shell blocks of a document in order, in one bash session and a temporary folder. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { COMPILED } from '../support/compiled.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const PROGRAMS = ['bin/svc.mjs', 'client/bin/svc-client.mjs', 'native/bin/svc-native.mjs']
const FENCE = /^```sh\n([\s\S]*?)^```$/gm
const MARK = '=== block'
/** Some pages wait for one or two steps. */
const TIMEOUT_MS = 600_000

export interface Session {
  readonly code: number | null
  /** What each block printed, in the order of the document. A block after one that failed printed nothing. */
  readonly blocks: readonly string[]
  readonly errors: string
}

/** Only ```sh blocks are run; what cannot run in a test stands in a ```text or ```console block. */
async function shellBlocks(document: string): Promise<readonly string[]> {
  const page = await readFile(join(ROOT, document), 'utf8')
  return [...page.matchAll(FENCE)].map(([, block = '']) => block)
}

/** Every block must run, and none may fail. */
export async function followDocument(...given: Parameters<typeof runDocument>): Promise<Session> {
  const session = await runDocument(...given)
  expect(session.code, `${given[0]}: ${session.errors}\n${session.blocks.join('\n---\n')}`).toBe(0)
  expect(session.blocks).toHaveLength((await shellBlocks(given[0])).length)
  return session
}

async function runDocument(document: string, directory: string, environment: Readonly<Record<string, string>>): Promise<Session> {
  const commands = join(directory, '.commands')
  await mkdir(commands, { recursive: true })
  for (const program of PROGRAMS) await command(commands, program)

  const script = join(commands, 'script.sh')
  await writeFile(script, (await shellBlocks(document)).map((block) => `echo '${MARK}'\n${block}`).join('\n'))
  const path = [commands, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter)
  return run(script, directory, { HOME: directory, LC_ALL: 'C', PATH: path, ...COMPILED, ...environment })
}

/** The commands as they are built, on the Node that runs the test. */
async function command(folder: string, program: string): Promise<void> {
  const path = join(folder, basename(program, '.mjs'))
  await writeFile(path, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, program)}" "$@"\n`)
  await chmod(path, 0o755)
}

async function run(script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<Session> {
  const child = spawn('bash', ['-euo', 'pipefail', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT_MS })
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const [, ...blocks] = out.split(`${MARK}\n`)
  return { code, blocks, errors }
}
