/** The program as it is started: one turn, what it prints, how it ends. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { isAlive } from '@svc-ai/client/shared'
import { folder, model, start, tool, treeFolder } from './testing/native.ts'
import { json } from '../../agent/src/testing/upstream.ts'

const add = tool('add', 'export const run = ({ a, b }: { a: number; b: number }): number => { console.log("noise"); return a + b }')

function once(native: string, prompt: string, cwd = folder()) {
  return start(['-p', prompt], { cwd, env: { SVC_NATIVE_DIR: native } })
}

describe('svc-native -p', () => {
  it('prints the answer and nothing else, takes any prompt, and leaves its log', async () => {
    const served = await model({ add: { a: 1, b: 2 } }, 'three')
    const native = treeFolder([add], served.url)
    expect(await once(native, '--help').end).toEqual({ code: 0, stdout: 'three\n', stderr: '' })
    const body: { model: string; stream: boolean; max_tokens: number; messages: { content: string }[] } = JSON.parse(
      served.heard[0]?.body ?? '',
    )
    expect(body).toMatchObject({ model: 'm', stream: false, max_tokens: 4096 })
    expect(body.messages[1]?.content).toBe('--help')
    const [log = ''] = readdirSync(join(native, 'sessions'))
    const types = readFileSync(join(native, 'sessions', log), 'utf8')
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line).type)
    expect([types[0], types.at(-1)]).toEqual(['session', 'turn/end'])
  })

  it('says in one line why there is no answer, and exits with 1 for an error and 3 for another end', async () => {
    const failing = await model((response) => json(response, 401, { error: { message: 'no\nentry' } }))
    expect(await once(treeFolder([], failing.url), 'x').end).toEqual({
      code: 1,
      stdout: '',
      stderr: 'svc-native: MODEL_ERROR: the model answered 401: no entry\n',
    })
    const endless = await model({ nothing: {} })
    const { code, stderr } = await once(treeFolder([], endless.url), 'x').end
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^svc-native: max-steps: .*\n$/)])
  })

  it.each([
    ['models.json', '{', 'models.json is no JSON object'],
    ['models.json', '{"api":"anthropic"}', 'speaks openai alone'],
    ['models.json', '{}', 'names no model'],
    ['tools/add.json', '{"description":7}', 'tools/add.json.description must be text'],
    ['graphs/main.json', '{"name":"main","start":"a","stages":{"b":{"kind":"model"}},"edges":[]}', 'names the stage a, which is not there'],
  ])('refuses a tree whose %s is %s', async (path, text, words) => {
    const native = treeFolder([add], 'http://127.0.0.1:1')
    if (path.startsWith('graphs')) writeGraph(native, text)
    else writeFileSync(join(native, path), text)
    const { code, stdout, stderr } = await once(native, 'x').end
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(words)])
  })

  it('says what to do when it is started without a tree, a prompt or a command it knows', async () => {
    const bare = { cwd: folder(), env: { SVC_NATIVE_DIR: '' } }
    expect(await start(['-p', 'x'], bare).end).toMatchObject({ code: 1, stderr: expect.stringContaining('SVC_NATIVE_DIR is not set') })
    expect(await start(['-p'], bare).end).toMatchObject({ code: 2, stderr: expect.stringContaining('say what to do') })
    expect(await start(['fly'], bare).end).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no command fly') })
    expect(await start(['--help'], bare).end).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: svc-native') })
  })

  it('says in its help that it stays at its release unless told otherwise', async () => {
    const { stdout } = await start(['--help'], { cwd: folder(), env: {} }).end
    expect(stdout).toMatch(/--follow head\|provisional\|pinned\s[^-]*\(default pinned\)/)
  })

  it('that is killed takes its tool with it', async () => {
    const code = `import { writeFileSync } from 'node:fs'
      export const run = (_: unknown, dir: string) => { writeFileSync(dir + '/pid', String(process.pid)); return new Promise(() => setInterval(() => 0, 1000)) }`
    const served = await model({ hang: {} })
    const cwd = folder()
    const { child, end } = once(treeFolder([tool('hang', code, { capabilities: ['write'] })], served.url), 'x', cwd)
    await vi.waitFor(() => expect(readFileSync(join(cwd, 'pid'), 'utf8')).not.toBe(''), 20_000)
    child.kill('SIGKILL')
    await end
    await vi.waitFor(() => expect(isAlive(Number(readFileSync(join(cwd, 'pid'), 'utf8')))).toBe(false), 20_000)
  })

  it('that gets SIGTERM says so', async () => {
    const served = await model((response) => void response.writeHead(200).write('{'))
    const { child, end } = once(treeFolder([], served.url), 'x')
    await vi.waitFor(() => expect(served.heard).toHaveLength(1), 20_000)
    child.kill('SIGTERM')
    expect(await end).toMatchObject({ code: 1, stderr: 'svc-native: TURN_ERROR: stopped by SIGTERM\n' })
  })

  it('whose log cannot be written says so', async () => {
    const served = await model('ok')
    const native = treeFolder([], served.url)
    rmSync(join(native, 'sessions'), { recursive: true, force: true })
    writeFileSync(join(native, 'sessions'), 'in the way')
    expect(await once(native, 'x').end).toMatchObject({ code: 1, stderr: expect.stringContaining('in the way') })
  })
})

function writeGraph(native: string, text: string): void {
  rmSync(join(native, 'graphs'), { recursive: true, force: true })
  mkdirSync(join(native, 'graphs'))
  writeFileSync(join(native, 'graphs/main.json'), text)
}
