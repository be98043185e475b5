import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { executorConformance, playOf } from '../../../conformance/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { listenOnLoopback } from '../../../test/support/listen.ts'
import { describeSandboxed } from '../../../test/support/sandbox.ts'
import { until } from '../../../test/support/wait.ts'
import sandbox from './index.ts'

const PLUGIN = new URL('./index.ts', import.meta.url).href
const CALL = `const { url, apiKey } = JSON.parse(require("node:fs").readFileSync("../model.json"))
  fetch(url + "/v1/responses", { method: "POST", headers: { authorization: "Bearer " + apiKey }, body: "{}" })`

/** Runs one episode that calls the model and waits for its answer. */
const threadOf = (mark: string, url: string): string => `import(${JSON.stringify(PLUGIN)}).then(async ({ default: { plugin } }) => {
  const executor = await plugin.make({})
  const play = {
    files: (model) => ({ 'model.json': JSON.stringify(model) }),
    workspace: {},
    model: { url: ${JSON.stringify(url)}, model: 'm', api: 'responses', apiKey: null },
    launch: () => ({ argv: [process.execPath, '-e', ${JSON.stringify(CALL)}, '--', ${JSON.stringify(mark)}], env: {}, timeoutSeconds: 60 }),
    readTrajectory: async () => [],
    needs: [],
  }
  await executor.run(play, new AbortController().signal)
})`

/** Prints what the self-test of the sandbox answers. */
const CHECK = `import(${JSON.stringify(PLUGIN)}).then(async ({ default: { plugin } }) => console.log(await plugin.check()))`

const ownFolders = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('svc-episode-') && name.includes(`-${process.pid}-`))

function processesMarked(mark: string): number {
  const lines = readdirSync('/proc').map((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1')
    } catch {
      return ''
    }
  })
  return lines.filter((line) => line.includes(mark)).length
}

await describeSandboxed('sandbox', () => {
  executorConformance({ describe, it, make: () => sandbox.plugin.make({}) })

  it('works for a service with a closed umask and a low priority', () => {
    const shell = 'umask 077; exec nice -n 15 "$@"'
    const { stdout, stderr } = spawnSync('sh', ['-c', shell, 'sh', process.execPath, '-e', CHECK], { encoding: 'utf8' })
    expect([stdout.trim(), stderr]).toEqual(['null', ''])
  })

  it('says of itself that code of a model’s may run in it, and has tried', async () => {
    expect(sandbox.plugin.contains).toBe(true)
    expect(await sandbox.plugin.check?.()).toBeNull()
  })

  it('ends its agents with the thread that runs them', async () => {
    const mark = `mark-${process.pid}-${Date.now()}`
    const called = Promise.withResolvers<void>()
    const model = createServer(() => called.resolve())
    const worker = new Worker(threadOf(mark, `http://127.0.0.1:${await listenOnLoopback(model)}`), { eval: true })
    worker.on('error', called.reject)
    await called.promise
    expect(processesMarked(mark)).toBeGreaterThan(0)
    await worker.terminate()
    await until(() => processesMarked(mark) === 0)
    model.closeAllConnections()
    model.close()
    for (const name of ownFolders()) rmSync(join(tmpdir(), name), { recursive: true })
  })

  it('works for a user other than root', async () => {
    if (process.getuid?.() !== 0) return
    // Out of the folders of root, and readable to all.
    const folder = mkdtempSync('/var/tmp/svc-test-')
    writeFileSync(join(folder, 'try.mjs'), CHECK)
    spawnSync('cp', [process.execPath, join(folder, 'node')])
    spawnSync('chmod', ['-R', 'a+rX', folder])
    const other = { uid: 65534, gid: 65534, env: { PATH: process.env['PATH'] } }
    const { stdout, stderr } = spawnSync(join(folder, 'node'), [join(folder, 'try.mjs')], other)
    spawnSync('rm', ['-rf', folder])
    expect([String(stdout), String(stderr)]).toEqual(['null\n', ''])
  })

  it('refuses to show an agent a folder that holds the others', async () => {
    const executor = await sandbox.plugin.make({})
    for (const need of ['/', tmpdir(), 'relative', join(tmpdir(), 'x/..')])
      await expect(executor.run(playOf('', { needs: [need] }), new AbortController().signal)).rejects.toMatchObject({ code: 'bad_need' })
    expect(ownFolders()).toEqual([])
  })
})

describe('sandbox, where there can be none', () => {
  it('says what to install', () => {
    const { stdout } = spawnSync(process.execPath, ['-e', CHECK], { env: { PATH: temporaryFolder() } })
    expect(String(stdout)).toBe('bubblewrap is not installed; install it with: apt-get install bubblewrap\n')
  })

  it.each([
    ['bwrap: setting up uid map: Permission denied', 'sysctl -w kernel.unprivileged_userns_clone=1'],
    [
      'bwrap: No permissions to create new namespace, likely because the kernel does not allow it',
      'apparmor_restrict_unprivileged_userns=0',
    ],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", 'docker run --security-opt'],
    ['bwrap: something else', 'try it by hand'],
  ])('says what to do about %s', (words, cure) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\n[ "$1" = --help ] || { echo "${words}" >&2; exit 1; }\n`, { mode: 0o755 })
    const { stdout } = spawnSync(process.execPath, ['-e', CHECK], { env: { PATH: `${folder}:${process.env['PATH']}` } })
    expect(String(stdout)).toContain(cure)
  })

  it.each([{ processes: 0 }, { memory_bytes: '1' }, { disk_bytes: 1.5 }, { cpus: 1 }])('refuses the limits %j', async (limits) => {
    await expect(async () => sandbox.plugin.make({ sandbox: limits })).rejects.toMatchObject({ code: 'bad_setting' })
  })
})
