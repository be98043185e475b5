import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { spawnSync } from 'node:child_process'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { executorConformance, playOf } from '../../../conformance/index.ts'
import type { Episode, Play } from '../../../src/contract/index.ts'
import { mountDisk } from '../../../test/support/folder.ts'
import { listenOnLoopback } from '../../../test/support/listen.ts'
import local from './index.ts'

const LIMITS = { memory_bytes: 400 * 1024 * 1024, processes: 8, disk_bytes: 8 * 1024 * 1024, files: 100 }

async function run(script: string, more: Partial<Play> = {}): Promise<Episode> {
  const executor = await local.plugin.make({ sandbox: LIMITS })
  return executor.run(playOf(script, more), new AbortController().signal)
}

describe('local', () => {
  executorConformance({ describe, it, make: () => local.plugin.make({}) })

  it('says of itself that no code of a model’s may run in it', () => {
    expect(local.plugin.contains).toBe(false)
  })

  it('ends what left its group and its parent, before the workspace is inspected', async () => {
    const writer = 'for (;;) require("node:fs").appendFileSync("beats", "x")'
    const script = `require("node:child_process").spawn("setsid", ["--fork", process.execPath, "-e", ${JSON.stringify(writer)}], { detached: true, stdio: "ignore" }).unref()
      setInterval(() => require("node:fs").existsSync("beats") && process.exit(), 5)`
    const sizes = new Set<number>()
    const inspect = async (workspace: string): Promise<void> => {
      for (let look = 0; look < 300; look += 1) sizes.add(statSync(join(workspace, 'beats')).size)
    }
    expect((await run(script, { inspect })).exitCode).toBe(0)
    expect(sizes.size).toBe(1)
  })

  it.each([
    ['memory', 'const all = []; setInterval(() => all.push(Buffer.alloc(1 << 26, 1)), 10)'],
    ['processes', 'for (let i = 0; i < 12; i += 1) require("node:child_process").spawn("sleep", ["30"])'],
    ['disk', 'setInterval(() => require("node:fs").appendFileSync("big", Buffer.alloc(1 << 20, 1)), 5)'],
    ['files', 'let i = 0; setInterval(() => require("node:fs").writeFileSync("file" + (i += 1), ""), 1)'],
  ])('ends an agent that is past its limit of %s', async (limit, script) => {
    expect((await run(script)).ended).toBe(limit)
  })

  it('ends its agent with the thread that started it', async () => {
    const server = createServer()
    onTestFinished(() => void server.close())
    const agent = `require('node:net').connect(${await listenOnLoopback(server)})`
    const thread = new Worker(new URL('./endless.fixture.ts', import.meta.url), { workerData: agent })
    const [socket]: Socket[] = await once(server, 'connection')
    const ended = once(socket ?? server, 'close')
    socket?.on('error', () => undefined).resume()
    await thread.terminate()
    await ended
  })

  it('answers that a command without a name could not be started', async () => {
    expect((await run('', { launch: () => ({ argv: [], env: {}, timeoutSeconds: 1 }) })).ended).toBe('start')
    expect((await run('', { launch: () => ({ argv: ['a\0b'], env: {}, timeoutSeconds: 1 }) })).ended).toBe('start')
  })

  it('leaves plain files and folders to the reader, all of them readable', async () => {
    const script =
      'const fs = require("node:fs"); fs.symlinkSync("/etc", "link"); fs.mkdirSync("shut"); fs.writeFileSync("shut/file", "x"); fs.chmodSync("shut/file", 0); fs.chmodSync("shut", 0); require("node:child_process").execSync("mkfifo pipe")'
    const seen: string[] = []
    const inspect = async (workspace: string): Promise<void> =>
      void seen.push(...readdirSync(workspace, { recursive: true, encoding: 'utf8' }))
    await run(script, { inspect })
    expect(seen.sort()).toEqual(['shut', join('shut', 'file')])
  })

  it('is no episode on a disk that is full, and says so without a path', async () => {
    vi.stubEnv('TMPDIR', mountDisk('size=64k'))
    try {
      await expect(run('', { workspace: { large: 'x'.repeat(200_000) } })).rejects.toMatchObject({
        code: 'episode_folder',
        message: 'the folder of an episode cannot be written (ENOSPC); check the disk of the temporary folder',
      })
      expect(readdirSync(tmpdir())).toEqual([])
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it('removes what a process that was killed left behind, and nothing of those that live', async () => {
    const namespace = readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')
    const { pid } = spawnSync('true')
    const [dead = '', alive = '', elsewhere = ''] = [`${namespace}-${pid}`, `${namespace}-${process.pid}`, `1-${pid}`].map((name) =>
      join(tmpdir(), `svc-episode-${name}-kept`),
    )
    for (const folder of [dead, alive, elsewhere]) mkdirSync(join(folder, 'root'), { recursive: true })
    await local.plugin.make({})
    expect([dead, alive, elsewhere].map((folder) => existsSync(folder))).toEqual([false, true, true])
    spawnSync('rm', ['-rf', alive, elsewhere])
  })
})
