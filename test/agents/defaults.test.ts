/** A first use: `svc init`, `svc serve`, a request, with only the agent configured, in a folder with a space in its name. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/contract/index.ts'
import { textAt } from '../spec/support/helpers.ts'
import { program } from '../support/programs.ts'
import { until } from '../support/wait.ts'

const SERVICE = join(import.meta.dirname, '../../bin/svc.mjs')
const REQUEST = { text: 'Be friendly and keep a calm tone.', session: 's', release_id: 'r' }

let folder = ''
let service: ChildProcess | null = null
beforeAll(() => {
  program('bwrap')
  folder = mkdtempSync(join(tmpdir(), 'svc-defaults-'))
  mkdirSync(join(folder, 'my agent'))
  mkdirSync(join(folder, 'elsewhere'))
})
afterAll(async () => {
  if (service !== null && service.exitCode === null) {
    const gone = new Promise((resolve) => service?.once('exit', resolve))
    service.kill('SIGTERM')
    await gone
  }
  rmSync(folder, { recursive: true, force: true })
})

/** `svc` as a person types it. */
function svc(args: readonly string[], cwd: string): { readonly child: ChildProcess; readonly printed: () => string } {
  const child = spawn(process.execPath, [SERVICE, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (text += part.toString()))
  return { child, printed: () => text }
}

async function ended(args: readonly string[], cwd: string): Promise<string> {
  const { child, printed } = svc(args, cwd)
  await new Promise((resolve) => child.once('close', resolve))
  return printed()
}

async function ask(url: string, method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  const headers = { 'x-svc-scenario': 'mine' }
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const json: Json = JSON.parse(await answer.text())
  return isObject(json) ? json : {}
}

it('the pinned agent is installed and plays, and doctor sees the same data from any folder', { timeout: 600_000 }, async () => {
  const place = join(folder, 'my agent')
  expect(await ended(['init', '--model', 'practice', '--adapter', 'pi', '--yes'], place)).toContain('svc.yaml is written')
  const { child, printed } = svc(['serve', '-c', 'svc.yaml', '--svc.port', '0'], place)
  service = child
  await until(() => /http:\/\/127\.0\.0\.1:\d+/.test(printed()))
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed()) ?? []
  await ask(url, 'POST', '/svc/scenarios', { name: 'mine' })
  await ask(url, 'POST', '/svc/scenarios/mine/update', { training_mode: 'manual' })
  const id = textAt(await ask(url, 'POST', '/svc/train', REQUEST), 'agent_record_id')
  // The first pair is enough: the program was installed, started in its sandbox, and scored.
  await until(async () => {
    const { error } = await ask(url, 'GET', '/svc/status')
    expect(error).toBeNull()
    const { activity, settled } = await ask(url, 'GET', `/svc/harness/requests/${id}/progress`)
    return settled === true || (Array.isArray(activity) && activity.some((line) => isObject(line) && line['kind'] === 'trial'))
  })
  const progress = await ask(url, 'GET', `/svc/harness/requests/${id}/progress`)
  expect(JSON.stringify(progress['activity'])).toMatch(/candidate [01], current [01]/)
  expect(await ended(['doctor', '-c', '../my agent/svc.yaml'], join(folder, 'elsewhere'))).toContain(join(place, '.svc/agent-record'))
})
