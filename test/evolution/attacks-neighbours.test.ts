/** A disk that others fill while an episode runs, and one that the episode fills itself; and calls of the model as they leave the sandbox. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { describeSandboxed } from '../support/sandbox.ts'
import { until } from '../support/wait.ts'
import { sandboxWorld } from './sandbox-world.ts'

const at = sandboxWorld()
const isRoot = process.getuid?.() === 0
const FILL =
  'const fs = require("node:fs"); const part = Buffer.alloc(1 << 20, 1); try { for (let i = 0; ; i += 1) fs.writeFileSync("f" + i, part) } catch (error) { process.stdout.write(error.code) }'

const DISK = { small: '' }
const inShell = (script: string): void => void execFileSync('sh', ['-c', script], { cwd: DISK.small })
const emptied = (): void => rmSync(join(DISK.small, 'neighbour'), { recursive: true, force: true })

/** How an episode ends before whose start this was done. */
async function filled(work: string, script: string): Promise<unknown> {
  const files = (): Record<string, string> => {
    inShell(work)
    return {}
  }
  return at.attempt(script, { limits: { disk_bytes: 512 * 1024 * 1024, files: 20_000 }, play: { files } }).catch((error: unknown) => error)
}

await describeSandboxed('a disk of 64 MiB', () => {
  if (!isRoot) return it.skip('needs root, who alone mounts', () => undefined)
  beforeAll(() => {
    DISK.small = mkdtempSync(join(tmpdir(), 'small-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,nr_inodes=4000', 'tmpfs', DISK.small])
    vi.stubEnv('TMPDIR', DISK.small)
  })
  afterAll(() => {
    vi.unstubAllEnvs()
    execFileSync('umount', [DISK.small])
    rmSync(DISK.small, { recursive: true })
  })

  it('that a neighbour fills scores no innocent episode: it is the machine’s trouble', async () => {
    const end = await filled(
      'mkdir -p neighbour; head -c 62m /dev/zero > neighbour/all',
      'try { require("node:fs").writeFileSync("result", Buffer.alloc(4 << 20)) } catch { process.exit(1) }',
    )
    expect(end).toMatchObject({ kind: 'unavailable', code: 'no_room' })
    emptied()
  })

  it('whose entries a neighbour uses up scores no innocent episode either', async () => {
    const end = await filled(
      'mkdir -p neighbour; cd neighbour; seq 3900 | xargs touch',
      'try { for (let i = 0; i < 100; i += 1) require("node:fs").writeFileSync("result" + i, "") } catch { process.exit(1) }',
    )
    expect(end).toMatchObject({ kind: 'unavailable', code: 'no_room' })
    emptied()
  })

  const WORKS =
    'const fs = require("node:fs"); let ok = true; setTimeout(() => process.exit(ok ? 0 : 1), 1500); setInterval(() => { try { fs.writeFileSync("result" + Math.random(), Buffer.alloc(4096)) } catch { ok = false } }, 20)'
  const NO_ENTRY = 'mkdir -p neighbour; cd neighbour; seq 5000 | xargs touch'
  const NO_SPACE = 'mkdir -p neighbour; cat /dev/zero > neighbour/all'

  it.each([
    ['fills to the last byte, before it starts', 0, NO_SPACE],
    ['fills to the last byte, while it runs', 700, NO_SPACE],
    ['leaves without an entry, before it starts', 0, NO_ENTRY],
    ['leaves without an entry, while it runs', 700, NO_ENTRY],
    ['fills with a file that has no name', 0, 'exec 9> gone; rm gone; cat /dev/zero >&9'],
    ['fills with holes that are filled', 500, 'truncate -s 1G neighbour; cat /dev/zero > neighbour'],
  ])('that a neighbour %s scores no innocent episode', async (_title, afterMs, work) => {
    const neighbour = spawn('sh', ['-c', `sleep ${afterMs / 1000}; ${work}; sleep 60`], {
      cwd: DISK.small,
      detached: true,
      stdio: 'ignore',
    })
    const isFull = (): boolean => statfsSync(DISK.small).bavail === 0 || statfsSync(DISK.small).ffree === 0
    if (afterMs === 0) await until(isFull)
    const end = await filled('true', WORKS)
    const gone = once(neighbour, 'exit')
    process.kill(-(neighbour.pid ?? 0), 'SIGKILL')
    await gone
    emptied()
    expect(end).toMatchObject({ kind: 'unavailable', code: expect.stringMatching(/^(?:no_room|episode_folder)$/) })
  })

  it('that the episode fills itself ends it: that is its own doing', async () => {
    expect(await filled('true', `${FILL}; setTimeout(() => {}, 20000)`)).toMatchObject({ ended: 'disk' })
  })

  it('with room again is played on', async () => {
    expect(await filled('touch other', 'process.stdout.write("fine")')).toMatchObject({ exitCode: 0, stdout: 'fine' })
  })
})

const MODEL =
  'const { url, apiKey } = JSON.parse(require("node:fs").readFileSync("../model.json")); const ask = (path, body) => fetch(url + path, { method: "POST", headers: { authorization: "Bearer " + apiKey }, body: JSON.stringify(body) }).then((answer) => answer.status);'

await describeSandboxed('a call of the model', () => {
  it('leaves with known fields and the one model, and the record says what did not', async () => {
    const body = {
      model: 'other',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'web_search' }],
      store: true,
      'x\n\u001B[2J': 1,
    }
    const { notes } = await at.attempt(`${MODEL} ask("/v1/chat/completions", ${JSON.stringify(body)})`)
    expect(at.bodies.map((each) => JSON.parse(each))).toEqual([{ model: 'm', messages: body.messages, tools: [] }])
    expect(notes).toEqual(['left out: tools[] (web_search)', 'left out: store', 'left out: x??[2J', 'left out: model'])
  })

  it('is refused beyond the budget, whatever comes at once', async () => {
    const script = `${MODEL} Promise.all(Array.from({ length: 12 }, () => ask("/v1/responses", { input: "x", max_output_tokens: 10 }))).then((all) => process.stdout.write(all.sort().join()))`
    const { stdout, notes } = await at.attempt(script, { limits: { model_calls: 5 } })
    expect(stdout).toBe('200,200,200,200,200,403,403,403,403,403,403,403')
    expect(at.calls).toHaveLength(5)
    expect(notes).toEqual(['refused: the episode may not use more than 5 calls'])
  })

  it('is refused beyond its tokens', async () => {
    const script = `${MODEL} ask("/v1/messages", { messages: [], max_tokens: 100000 }).then((status) => process.stdout.write(String(status)))`
    expect((await at.attempt(script, { limits: { model_tokens: 50_000 } })).stdout).toBe('403')
    expect(at.calls).toEqual([])
  })
})
