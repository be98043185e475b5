/** A blocked log pipe: the service keeps answering, drops lines that do not fit, and reports that when the pipe is read again. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { COMPILED } from '../support/compiled.ts'
import { temporaryFolder } from '../support/folder.ts'
import { makePlace } from '../support/place.ts'
import { until } from '../support/wait.ts'
import { send } from '../support/world.ts'

const ENTRY = fileURLToPath(new URL('../support/svc.ts', import.meta.url))
/** A line of nearly a thousand bytes: a few thousand are more than any pipe and our own buffer hold. */
const LONG_NAME = Buffer.from('🐟'.repeat(200)).toString('latin1')
const REQUESTS = 2000
const AT_ONCE = 16

interface Stalled {
  readonly stdio: number | 'pipe'
  /** Begins to read. */
  readonly read: (stderr: Readable | null) => Readable
}

const KINDS: readonly (readonly [string, () => Promise<Stalled>])[] = [
  ['a socket', async () => ({ stdio: 'pipe', read: (stderr) => stderr ?? process.stdin })],
  [
    'a pipe',
    async () => {
      const path = join(temporaryFolder(), 'log')
      spawnSync('mkfifo', [path])
      const held = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
      const writing = openSync(path, constants.O_WRONLY)
      const read = (): Readable => {
        closeSync(writing)
        return new Socket({ fd: held, readable: true, writable: false })
      }
      return { stdio: writing, read }
    },
  ],
]

it.each(KINDS)('a log that no process reads blocks no request, and reports what was dropped when it is read again: %s', async (_, open) => {
  const place = await makePlace()
  const { stdio, read } = await open()
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [ENTRY, 'serve', ...place.args()], {
    stdio: ['ignore', 'pipe', stdio],
    env: { PATH, HOME, ...COMPILED },
  })
  const ended = once(child, 'exit')
  const address = await readyAt(child.stdout)
  const asking = Array.from({ length: AT_ONCE }, async () => {
    for (let count = 0; count < REQUESTS / AT_ONCE; count += 1) {
      const answer = await fetch(`${address}/svc/report`, { method: 'POST', headers: { 'x-svc-scenario': LONG_NAME }, body: '{' })
      await answer.text()
      expect(answer.status).toBe(400)
    }
  })
  await Promise.all(asking)
  const metrics = await send(address, 'GET', '/metrics', {})
  const counted = Number(/svc_log_lines_dropped_total (\d+)/.exec(metrics.text)?.[1])
  expect(counted).toBeGreaterThan(0)
  const log = read(child.stderr)
  let text = ''
  log.on('data', (part: Buffer) => (text += part.toString()))
  await until(() => text.includes('"event":"log_dropped"'))
  const dropped = Number(/"event":"log_dropped","lines":(\d+)/.exec(text)?.[1])
  expect(dropped).toBeGreaterThanOrEqual(counted)
  const lines = text.split('\n').filter((line) => line.includes('"route":"/svc/report"'))
  expect(lines.length + dropped).toBeGreaterThanOrEqual(REQUESTS)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  await expect.poll(() => text).toContain('stopping: calls in flight may finish')
  log.destroy()
})

async function readyAt(out: Readable | null): Promise<string> {
  let text = ''
  for await (const part of out ?? []) {
    text += String(part)
    const [, address] = /ready at (\S+)/.exec(text) ?? []
    if (address !== undefined) return address
  }
  throw new Error(`the service ended: ${text}`)
}
