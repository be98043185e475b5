/**
 * Records docs/session.md: `npm run docs:session`. Starts a service with the built-in mock model in an empty folder, types the commands of the
 * page as a person would, and writes down what they print. Removes everything it made.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { writeAtomicFile } from '../src/kit/index.ts'
import { freePort } from '../test/support/listen.ts'
import { RECEIPT, SESSION, SESSION_PAGE, sessionPage, type PlayedCommand } from './session-page.ts'

const root = join(import.meta.dirname, '..')
/** What a person reads in place of where it ran. */
const USUAL_PORT = '8900'
const READY = /^Try it:\n.+\n/m

const folder = mkdtempSync(join(tmpdir(), 'svc-session-'))
const port = String(await freePort())
const env = {
  HOME: folder,
  LC_ALL: 'C.UTF-8',
  PATH: [join(root, 'bin'), process.env['PATH'] ?? ''].join(delimiter),
  SVC_URL: `http://127.0.0.1:${port}`,
}
const service = spawn(join(root, 'bin/svc'), ['serve', '--svc.port', port], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
try {
  const [start, ...others] = SESSION
  const played: PlayedCommand[] = [{ ...start, printed: tidy(await printedUntil(READY)) }]
  let receipt = RECEIPT
  for (const { typed, words } of others) {
    const line = typed.replace(RECEIPT, receipt)
    const printed = await printedBy(line.replace(USUAL_PORT, port))
    receipt = /\b[0-9a-f]{32}\b/.exec(printed)?.[0] ?? receipt
    played.push({ typed: line, words, printed: tidy(printed) })
  }
  await writeAtomicFile(join(root, SESSION_PAGE), sessionPage(played))
  console.log(`wrote ${SESSION_PAGE}`)
} finally {
  service.kill('SIGTERM')
  await once(service, 'close')
  rmSync(folder, { recursive: true, force: true })
}

async function printedUntil(pattern: RegExp): Promise<string> {
  let printed = ''
  for await (const part of service.stdout.setEncoding('utf8')) {
    printed += part
    if (pattern.test(printed)) return printed
  }
  throw new Error(`the service ended before it was ready:\n${printed}`)
}

async function printedBy(line: string): Promise<string> {
  const child = spawn('bash', ['-c', `exec 2>&1; ${line}`], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (code !== 0) throw new Error(`${line} ended with ${String(code)}:\n${printed}`)
  return printed
}

/** Without the places of this run, and of lines that only count on the first and the last. */
function tidy(printed: string): string {
  const lines = printed.replaceAll(port, USUAL_PORT).replaceAll(folder, '~').replaceAll(basename(folder), 'agent').trimEnd().split('\n')
  const shown = lines.filter((line, at) => shape(line) !== shape(lines[at - 1]) || shape(line) !== shape(lines[at + 1]))
  return shown.flatMap((line, at) => (isCut(lines, line, shown[at - 1]) ? ['…', line] : [line])).join('\n')
}

/** Whether lines between these two are left out. */
function isCut(lines: readonly string[], line: string, before: string | undefined): boolean {
  return before !== undefined && lines.indexOf(line) - lines.indexOf(before) > 1
}

function shape(line: string | undefined): string | undefined {
  return line?.replaceAll(/\d+/g, '0').replace('episodes', 'episode')
}
