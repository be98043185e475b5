/** Code of the tree in a process of its own: what it may, and what it cannot do to the agent. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { isAlive } from '@svc-ai/client/shared'
import { folder } from './testing/native.ts'
import { runModule, type ModuleOutcome } from './module.ts'
import type { Capability } from './tree.ts'

const SECONDS = 30

function run(
  code: string,
  { workdir = folder(), capabilities = [] as readonly Capability[], secondsMax = SECONDS, args = {} } = {},
): Promise<ModuleOutcome> {
  const signal = new AbortController().signal
  return runModule({ task: { kind: 'tool', code, args, workdir }, capabilities, workdir, secondsMax, signal })
}

describe('a module', () => {
  it.each([
    ['text as it is', "export const run = (): string => 'a\\nb'", 'a\nb'],
    ['anything else as JSON', 'export const run = async () => ({ a: [1] })', '{"a":[1]}'],
    ['nothing as an empty text', 'export const run = (): void => undefined', ''],
    ['what it is given', 'export const run = (args: { n: number }): number => args.n + 1', '2'],
  ])('answers %s', async (_, code, value) => {
    expect(await run(code, { args: { n: 1 } })).toEqual({ ok: true, value })
  })

  it.each([
    ['throws', "export const run = () => { throw new Error('broken') }", 'broken'],
    ['throws in a callback', "export const run = () => new Promise(() => setTimeout(() => { throw new Error('later') }, 1))", 'later'],
    ['exits', 'export const run = () => process.exit(7)', 'it ended with status 7 before it answered'],
    ['does not parse', 'export const run = (', 'Expression expected'],
    ['exports nothing to run', 'export const other = 1', 'the module exports no function run'],
    ['answers what is no JSON', 'export const run = () => 1n', 'BigInt'],
  ])('that %s says so', async (_, code, problem) => {
    expect(await run(code)).toEqual({ ok: false, problem: expect.stringContaining(problem) })
  })

  it('whose working directory is gone says so', async () => {
    const workdir = join(folder(), 'gone')
    const code = "export const run = (): string => 'x'"
    expect(await run(code, { workdir, capabilities: ['write'] })).toEqual({
      ok: false,
      problem: expect.stringContaining('could not be started'),
    })
  })

  it('that hangs is ended', async () => {
    expect(await run('export const run = () => { for (;;); }', { secondsMax: 1 })).toEqual({
      ok: false,
      problem: 'it gave no answer within 1 s and was ended',
    })
  })

  it('may print as much as it likes: its output is not read', async () => {
    const code = "export const run = () => { for (let i = 0; i < 200; i += 1) console.log('x'.repeat(1_000_000)); return 'done' }"
    expect(await run(code)).toEqual({ ok: true, value: 'done' })
  })

  it('with an answer too long to hold is ended', async () => {
    expect(await run("export const run = () => 'x'.repeat(40_000_000)")).toEqual({
      ok: false,
      problem: expect.stringContaining('longer than 16777216 bytes'),
    })
  })

  it('leaves nothing running that it started', async () => {
    const code = `import { spawn } from 'node:child_process'
      export const run = () => spawn('sleep', ['1000'], { stdio: 'ignore' }).pid`
    const outcome = await run(code, { capabilities: ['exec'] })
    const pid = outcome.ok ? Number(outcome.value) : 0
    expect(pid).toBeGreaterThan(0)
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), 20_000)
  })

  it('gets nothing of the environment that is the service’s', async () => {
    vi.stubEnv('SVC_TOKEN', 'secret')
    vi.stubEnv('OTHER', 'kept')
    const outcome = await run('export const run = () => [process.env.SVC_TOKEN ?? null, process.env.OTHER]')
    vi.unstubAllEnvs()
    expect(outcome).toEqual({ ok: true, value: '[null,"kept"]' })
  })

  it('is what its text says, whatever files lie beside it', async () => {
    const workdir = folder()
    writeFileSync(join(workdir, 'package.json'), '{"type":"commonjs"}')
    expect(await run("export const run = (): string => 'module'", { workdir })).toEqual({ ok: true, value: 'module' })
  })
})

describe('a tool that did not ask for it', () => {
  const refusal = { ok: false, problem: expect.stringContaining('has been restricted') }
  const read = "import { readFileSync } from 'node:fs'\nexport const run = (_: unknown, dir: string) => readFileSync(dir + '/a', 'utf8')"
  const write = "import { writeFileSync } from 'node:fs'\nexport const run = ({ path }: { path: string }) => writeFileSync(path, 'x')"
  const exec =
    "import { execFileSync } from 'node:child_process'\nexport const run = () => execFileSync('echo', ['hi'], { encoding: 'utf8' })"

  it('reads no file', async () => {
    const workdir = folder()
    writeFileSync(join(workdir, 'a'), 'text')
    expect(await run(read, { workdir })).toEqual(refusal)
    expect(await run(read, { workdir, capabilities: ['read'] })).toEqual({ ok: true, value: 'text' })
  })

  it('writes no file, and one that did only where the agent works', async () => {
    const [workdir, elsewhere] = [folder(), join(homedir(), `.svc-native-test-${process.pid}`)]
    const path = join(workdir, 'b')
    expect(await run(write, { workdir, args: { path } })).toEqual(refusal)
    expect(await run(write, { workdir, args: { path: elsewhere }, capabilities: ['write'] })).toEqual(refusal)
    expect([existsSync(path), existsSync(elsewhere)]).toEqual([false, false])
    expect(await run(write, { workdir, args: { path }, capabilities: ['write'] })).toEqual({ ok: true, value: '' })
    expect(readFileSync(path, 'utf8')).toBe('x')
  })

  it('starts no program', async () => {
    expect(await run(exec)).toEqual(refusal)
    expect(await run(exec, { capabilities: ['exec'] })).toEqual({ ok: true, value: 'hi\n' })
  })
})
