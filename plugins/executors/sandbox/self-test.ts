/** Tests on this machine that a sandbox isolates, by running a program that tries to escape. */
import { readdirSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { isRefusal, type Executor, type Play } from '../../../src/contract/index.ts'
import { makeFolder } from '../common/folder.ts'
import { unlessGone } from '../common/walk.ts'

/** Generous, for a busy machine. */
const TIMEOUT_SECONDS = 600

/** Why agents cannot be isolated here, with a fix, or null. */
export async function selfTest(executor: Executor): Promise<string | null> {
  if (process.platform !== 'linux') return 'sandboxes are made by bubblewrap, which runs on Linux alone; use another executor'
  // The next start removes it if this process is killed.
  const { path: folder } = await makeFolder()
  const server = createServer((_request, response) => response.end('outside'))
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const marker = join(folder, 'marker')
    await writeFile(marker, 'outside')
    const port = portOf(server.address())
    // What a busy machine refuses once says nothing about it.
    return await attempt(executor, marker, port).catch((error: unknown) => {
      if (isRefusal(error) && error.code === 'no_sandbox') return attempt(executor, marker, port)
      throw error
    })
  } catch (error) {
    return isRefusal(error) ? error.message : 'a sandbox cannot be tested here; check the disk of the temporary folder'
  } finally {
    server.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const portOf = (address: AddressInfo | string | null): number => (typeof address === 'object' && address !== null ? address.port : 0)

async function attempt(executor: Executor, marker: string, port: number): Promise<string | null> {
  const mark = randomBytes(16).toString('hex')
  const play: Play = {
    files: () => ({ 'try.cjs': PROGRAM }),
    workspace: {},
    model: { url: `http://127.0.0.1:${port}`, model: null, api: 'openai', apiKey: null },
    launch: (root) => ({ argv: [process.execPath, `${root}/try.cjs`, marker, `${port}`, mark], env: {}, timeoutSeconds: TIMEOUT_SECONDS }),
    readTrajectory: async () => [],
    needs: [],
  }
  const { stdout, ended } = await executor.run(play, new AbortController().signal)
  if (ended !== undefined || !stdout.endsWith('tried'))
    return `a sandbox starts here, but its first program does not (${ended ?? 'it failed'})`
  if (stdout !== 'tried') return `a sandbox does not isolate on this machine: a program in it ${stdout.replace(/ tried$/, '')}`
  return isRunning(mark) ? 'processes of a sandbox survive it on this machine; use a newer kernel' : null
}

/** Prints every forbidden thing it could do, and leaves a process behind. */
const PROGRAM = `
const fs = require('node:fs')
const [marker, port, mark] = process.argv.slice(2)
const could = []
const attempt = (what, work) => { try { if (work() !== false) could.push(what) } catch {} }
attempt('reads files of the machine,', () => fs.readFileSync(marker))
attempt('writes beside its folder,', () => fs.writeFileSync('/usr/svc-self-test', ''))
attempt('changes the kernel,', () => fs.closeSync(fs.openSync('/proc/sys/kernel/core_pattern', 'r+')))
attempt('changes its own inputs,', () => fs.appendFileSync(process.argv[1], ''))
attempt('sees the network,', () => Object.keys(require('node:os').networkInterfaces()).some((name) => name !== 'lo'))
attempt('sees other processes,', () => fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).length > 8)
const left = ['-e', 'setInterval(() => {}, 1000)', mark]
require('node:child_process').spawn(process.execPath, left, { detached: true, stdio: 'ignore' }).unref()
const socket = require('node:net').connect(Number(port), '127.0.0.1')
const done = (words) => { process.stdout.write([...could, ...words, 'tried'].join(' ')); process.exit() }
socket.on('connect', () => done(['reaches the machine,']))
socket.on('error', () => done([]))
`

function isRunning(mark: string): boolean {
  const words = readdirSync('/proc').map((name) => unlessGone(() => readFileSync(`/proc/${name}/cmdline`, 'latin1')) ?? '')
  return words.some((line) => line.includes(mark))
}
