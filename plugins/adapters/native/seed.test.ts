/** The tree that a scenario starts with: it is admitted as it is, its tools do what they say, and the agent works by it. */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isObject, type Entry, type Json } from '../../../src/contract/index.ts'
import { admit, renderTree } from '../../../src/harness/index.ts'
import { programOf } from '../../../test/support/built.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { world } from '../../../test/support/world.ts'
import { entry } from '../testing/adapter.ts'
import plugin from './index.ts'
import { run as bash } from './seed/bash.ts'
import { run as edit } from './seed/edit.ts'
import { run as read } from './seed/read.ts'
import { run as write } from './seed/write.ts'

const adapter = plugin.plugin
const seed = adapter.seed ?? []
const NATIVE = join(import.meta.dirname, '../../../native')
const MAIN = programOf(join(NATIVE, 'src/main.ts'), join(NATIVE, 'dist/native.mjs'))

describe('the seed', () => {
  it('is admitted entry by entry, as if somebody had proposed it', () => {
    const mutations = seed.map(({ id, name, config }) => ({ op: 'create' as const, id, options: { name, config } }))
    expect(admit(adapter, [], mutations)).toMatchObject({ admitted: true, entries: seed })
  })

  it('has the four tools that a coding agent needs', () => {
    expect(seed.filter(({ name }) => name === 'native_tool').map(({ id }) => id)).toEqual(['read', 'write', 'edit', 'bash'])
  })
})

describe('a tool of the seed', () => {
  it('reads a file in parts, and lists a folder', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'a'), 'one\ntwo\nthree')
    expect(read({ path: 'a' }, folder)).toBe('one\ntwo\nthree')
    expect(read({ path: join(folder, 'a'), offset: 2, limit: 1 }, '/')).toBe('two\n[1 more lines; go on with offset 3]')
    expect(read({ path: '.' }, folder)).toBe('a')
    expect(() => read({ path: 'b' }, folder)).toThrow('ENOENT')
  })

  it('writes a file where there was no folder, and edits what is there once', () => {
    const folder = temporaryFolder()
    write({ path: 'b/c', content: 'x $& x\ny' }, folder)
    expect(edit({ path: 'b/c', old_text: 'y', new_text: '$&' }, folder)).toBe('b/c: 1 place changed')
    expect(() => edit({ path: 'b/c', old_text: 'x', new_text: 'z' }, folder)).toThrow('2 times')
    expect(() => edit({ path: 'b/c', old_text: '', new_text: 'z' }, folder)).toThrow('is not in b/c')
    edit({ path: 'b/c', old_text: 'x', new_text: 'z', all: true }, folder)
    expect(readFileSync(join(folder, 'b/c'), 'utf8')).toBe('z $& z\n$&')
  })

  it('runs a command, reports how it ended, and does not wait for what it leaves running', async () => {
    const folder = temporaryFolder()
    expect(await bash({ command: 'pwd; echo "$BASH_VERSION" | head -c 1 | wc -c' }, folder)).toBe(`${folder}\n1`)
    expect(await bash({ command: 'echo out; echo err >&2; exit 3' }, folder)).toMatch(/out\n|err\n[^]*\[exit status 3\]$/)
    expect(await bash({ command: 'true' }, folder)).toBe('[no output]')
    expect(await bash({ command: 'sleep 5 & echo started' }, folder)).toBe('started')
    expect(await bash({ command: 'sleep 60', timeout_seconds: 1 }, folder)).toBe('[ended after 1 s]')
  })

  it('keeps the beginning and the end of what a command prints without end', async () => {
    const output = await bash({ command: 'echo first; yes | head -c 3000000; echo last' }, temporaryFolder())
    expect(output).toMatch(/^first\n[^]*\n\[\d+ characters are left out\]\n[^]*\nlast$/)
    expect(output.length).toBeLessThan(2_100_000)
  })
})

describe('the agent with the built-in mock model', () => {
  const task = 'Run the command `expr 33 + 66` and report its output.'

  async function played(tree: readonly Entry[]): Promise<{ readonly stdout: string; readonly tools: readonly (Json | undefined)[] }> {
    const here = await world({ settings: { 'inference.runtime': 'practice' } })
    await here.exchange('s')
    const root = temporaryFolder()
    const address = { url: `${here.address}/svc/scenarios/s/evaluation`, model: 'practice', api: 'openai' as const, apiKey: null }
    for (const [path, content] of Object.entries(renderTree(adapter, tree, address))) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    }
    const { argv, env } = adapter.launch({ prompt: task }, root)
    const child = spawn(process.execPath, ['--no-warnings', MAIN, ...argv.slice(1)], { cwd: root, env: { ...process.env, ...env } })
    const stdout = await text(child.stdout)
    await here.close()
    const events = await adapter.readTrajectory(root)
    const calls = events.filter(({ type }) => type === 'tool/call').map(({ data }) => (isObject(data) ? data['tool'] : undefined))
    return { stdout, tools: calls }
  }

  it('reads the skill that fits, runs the command by its shell and answers what that printed', async () => {
    const skill = entry('shell-commands', 'skill', {
      name: 'shell-commands',
      text: '# Shell commands\n\nAlways use the tools instead of guessing.',
    })
    const { stdout, tools } = await played([...seed, skill])
    expect(tools).toEqual(['read', 'bash'])
    expect(stdout).toContain('99')
  })

  it('learns nothing from the seed that it could be taught', async () => {
    const { stdout, tools } = await played(seed)
    expect(tools).toEqual([])
    expect(stdout).not.toContain('99')
  })
})
