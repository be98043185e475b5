/** An episode that would go on for minutes, and the process that plays it killed: this shows that the ordeal sees what runs in a sandbox. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import sandbox from '../../../plugins/executors/sandbox/index.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { describeSandboxed } from '../../support/sandbox.ts'
import { until } from '../../support/wait.ts'
import { sandboxed } from './processes.ts'

const PLUGIN = pathToFileURL(join(import.meta.dirname, '../../../plugins/executors/sandbox/index.ts')).href
const PLAYER = `
const { default: { plugin } } = await import(${JSON.stringify(PLUGIN)})
const play = {
  files: () => ({}),
  workspace: {},
  model: { url: 'http://127.0.0.1:1', model: null, api: 'openai', apiKey: null },
  launch: () => ({ argv: ['sh', '-c', 'setsid sleep 600 & sleep 600'], env: {}, timeoutSeconds: 600 }),
  readTrajectory: async () => [],
  needs: [],
}
await (await plugin.make({})).run(play, new AbortController().signal)
`

await describeSandboxed('what runs in a sandbox', () => {
  it('dies with the process that plays it, and its folder goes when the next one starts', async () => {
    const temporary = join(temporaryFolder(), 'temporary')
    const elsewhere = join(temporaryFolder(), 'temporary')
    mkdirSync(temporary)
    const player = spawn(process.execPath, ['--input-type=module', '-e', PLAYER], { env: { ...process.env, TMPDIR: temporary } })
    onTestFinished(() => void player.kill('SIGKILL'))
    // The first program, the shell, and what the shell started.
    await until(() => sandboxed({ temporary }).length >= 4)
    expect(sandboxed({ temporary: elsewhere })).toEqual([])
    player.kill('SIGKILL')
    await once(player, 'exit')
    await until(() => sandboxed({ temporary }).length === 0)
    expect(readdirSync(temporary)).toHaveLength(1)
    vi.stubEnv('TMPDIR', temporary)
    onTestFinished(() => void vi.unstubAllEnvs())
    await sandbox.plugin.make({})
    expect(readdirSync(temporary)).toEqual([])
  })
})
