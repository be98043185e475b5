/** Commands that restart themselves on another Node, and `npm start`: no process is left behind, however the first ends. */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../support/folder.ts'
import { argumentsOf, dataPlaceIn, settingsOf } from '../support/settings.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const SVC = join(ROOT, 'bin/svc.mjs')
const SVC_CLIENT = join(ROOT, 'client/bin/svc-client.mjs')
const START = join(ROOT, 'scripts/start.mjs')
/** For the process that is given it, and not for those that it starts. */
const OLD_NODE = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })`

/** On a Node that says that it is an old one. */
function launched(script: string, args: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
  const preload = join(temporaryFolder(), 'old.cjs')
  writeFileSync(preload, OLD_NODE)
  const { npm_lifecycle_event: _, ...env } = process.env
  return spawn(process.execPath, ['-r', preload, script, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

const serving = (folder: string): readonly string[] =>
  argumentsOf({ ...settingsOf(dataPlaceIn(folder), 'http://127.0.0.1:9'), 'inference.runtime': 'practice' })

async function start(child: ChildProcessByStdio<null, Readable, Readable>) {
  const { stdout, stderr } = child
  /** The standard error of the whole process chain until it is closed. */
  const said = text(stderr)
  let printed = ''
  for await (const part of stdout.iterator({ destroyOnReturn: false })) {
    printed += String(part)
    const [, address] = /ready at (\S+)/.exec(printed) ?? []
    if (address === undefined) continue
    stdout.resume()
    onTestFinished(() => void child.kill('SIGKILL'))
    return { child, address, said }
  }
  throw new Error(`it ended: ${await said}`)
}

const isWell = async (address: string): Promise<boolean> => (await fetch(`${address}/healthz`)).ok

describe.each<[string, string, readonly string[], string]>([
  ['svc on a Node that is too old', SVC, ['serve'], ''],
  ['npm start', START, [], `export PATH='${join(ROOT, 'bin')}':"$PATH"`],
])('a service started by %s', (_, script, words, hint) => {
  it('stops in order when what started it is killed, and not while that is merely stopped', async () => {
    const args = [...words, ...serving(temporaryFolder())]
    const { child, address, said } = await start(launched(script, args))
    child.kill('SIGSTOP')
    expect(await isWell(address)).toBe(true)
    child.kill('SIGKILL')
    expect(await said).toContain('svc: stopping')
    expect(await said).toContain(hint)
    await expect(isWell(address)).rejects.toThrow()
    // Port and store are free.
    const next = await start(launched(script, args))
    next.child.kill('SIGTERM')
    expect(await once(next.child, 'exit')).toEqual([0, null])
  })
})

it.skipIf(process.platform !== 'linux')('a service stops in order when npm itself is killed, which leaves its shell behind', async () => {
  const args = ['start', '--', ...serving(temporaryFolder())]
  const { child, address, said } = await start(spawn('npm', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] }))
  child.kill('SIGKILL')
  expect(await said).toContain('svc: stopping')
  await expect(isWell(address)).rejects.toThrow()
})

it.skipIf(process.platform !== 'linux')('a service without a terminal, as nohup makes one, goes on when the hangup ends npm', async () => {
  const args = ['start', '--', ...serving(temporaryFolder())]
  const npm = spawn('npm', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const { child, address, said } = await start(npm)
  const group = -Number(child.pid)
  process.kill(group, 'SIGHUP')
  await once(child, 'exit')
  // By the time a later launcher has noticed that its npm is gone, this one has looked for its own too.
  const later = await start(spawn('npm', ['start', '--', ...serving(temporaryFolder())], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] }))
  later.child.kill('SIGKILL')
  await later.said
  expect(await isWell(address)).toBe(true)
  process.kill(group, 'SIGTERM')
  expect(await said).toContain('svc: stopping')
})

it.each([
  ['svc', join(ROOT, 'bin/svc'), ['config', 'schema'], '"$schema"'],
  ['svc-client import', SVC_CLIENT, ['import', '--help'], 'Usage: svc-client import'],
])('%s does its work on the pinned Node where it is started by an older one, and ends', async (_, script, args, expected) => {
  const child = launched(script, args)
  const [out] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect([out, child.exitCode]).toEqual([expect.stringContaining(expected), 0])
})
