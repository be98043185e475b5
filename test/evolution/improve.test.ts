/** `svc improve` on a repository with a real history and real tests: tasks are mined, a change is found and proved, and the rest stays as it was. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runCommand, startCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startUpstream, type Script } from '../support/upstream.ts'

const MINUTES = 60_000
const LESSON = 'Write every function as a named export.'

/** Each a module of its own, with words that no other has. */
const MODULES =
  `kettle:boils pale green tea before dawn|harbour:moors seven wooden boats at dusk|lantern:lights narrow stairs behind the mill|
orchard:picks sour cherries every July|tunnel:carries slow freight under mountains|violin:tunes four gut strings by ear|
glacier:moves broken rocks toward valleys|pencil:draws thin grey maps of islands|compass:points sailors past hidden reefs|
bakery:kneads heavy rye dough overnight|chimney:draws thick smoke above slate roofs|ladder:reaches dusty shelves near windows|
meadow:feeds brown horses through autumn|anchor:holds iron ships against currents|candle:melts yellow wax onto brass plates|
quarry:cuts white marble into blocks|sparrow:gathers dry straw for nests|thimble:guards tired fingers from needles|
windmill:grinds golden barley on hills|saddle:fits young riders without slipping|turnip:grows purple roots in cold soil|
whistle:calls lost dogs across fields|blanket:warms newborn lambs during storms|hammer:drives square nails through oak`
    .split('|')
    .map((line, at) => {
      const [name = '', words = ''] = line.trim().split(':')
      return { name, words, add: at * 3 + 2 }
    })

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder, encoding: 'utf8' })

function repository(): string {
  const folder = join(temporaryFolder(), 'a "real" one')
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write('AGENTS.md', '# Rules\n\nBe brief.\n')
  write('package.json', '{"type":"module"}\n')
  git(folder, 'init', '-q', '-b', 'main')
  git(folder, 'add', '-A')
  git(folder, 'commit', '-qm', 'Begin')
  for (const { name, words, add } of MODULES) {
    write(`${name}/index.mjs`, `export const ${name} = (given) => given + ${add} // ${words}\n`)
    write(
      `${name}/index.test.mjs`,
      `import assert from 'node:assert'\nimport { test } from 'node:test'\nimport { ${name} } from './index.mjs'\ntest('${name}', () => assert.equal(${name}(1), ${add + 1}))\n`,
    )
    git(folder, 'add', '-A')
    git(folder, 'commit', '-qm', `Add the function ${name}\n\nThe function ${name} ${words}, and adds ${add} to its argument.`)
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}\n')
  return folder
}

const reply = (message: object): string =>
  JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: null, ...message } }],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  })

/** An agent that writes the function, as a named export only where its rules say so; a proposer that has read the failures. */
const provider: Script = ({ body }, response) => {
  const asked: { readonly tools?: readonly unknown[]; readonly messages: readonly { readonly role: string; readonly content: unknown }[] } =
    JSON.parse(body.toString())
  const text = JSON.stringify(asked.messages)
  response.writeHead(200, { 'content-type': 'application/json' })
  if ((asked.tools ?? []).length === 0)
    return void response.end(
      reply({ content: JSON.stringify([{ design: 'named exports' }, { id: 'exports', name: 'rules', config: { text: LESSON } }]) }),
    )
  if (asked.messages.at(-1)?.role === 'tool') return void response.end(reply({ content: 'Done.' }))
  const task = MODULES.find(({ name }) => text.includes(`Add the function ${name}`))
  const { name = 'none', add = 0 } = task ?? {}
  const content = text.includes(LESSON)
    ? `export const ${name} = (given) => given + ${add}\n`
    : `export default (given) => given + ${add}\n`
  const call = {
    id: 'c1',
    type: 'function',
    function: { name: 'write', arguments: JSON.stringify({ path: `${name}/index.mjs`, content }) },
  }
  return void response.end(reply({ tool_calls: [call] }))
}

it(
  'tasks are mined from its history, an improvement is found, proved and shown; interrupted after mining and while learning it goes on',
  async () => {
    const upstream = await startUpstream()
    onTestFinished(() => upstream.close())
    upstream.answer(provider)
    const [folder, data] = [repository(), temporaryFolder()]
    const before = git(folder, 'status', '--porcelain')
    const args = [
      'improve',
      folder,
      '--agent',
      'native',
      '--tasks',
      '22',
      '--model-url',
      upstream.url,
      '--inference.upstream_model',
      'scripted',
    ]
    const all = [...args, '--evolution.executor', 'local', '--branch', 'better', '--yes', '--json']
    const environment = { XDG_DATA_HOME: data, HOME: data }
    for (const words of ['"event":"mined"', '"event":"round"']) {
      const run = startCommand(all, environment)
      await run.said(words)
      run.signal('SIGKILL')
      await run.ended
    }
    const { code, out, err } = await runCommand(all, environment)
    expect([code, err]).toEqual([0, ''])
    const events = out
      .trim()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line))
    const result = events.find(({ event }) => event === 'result')
    expect(result).toMatchObject({ improved: true })
    const message = git(folder, 'log', '-1', '--format=%B', 'better')
    expect(message).toMatch(/sealed: 0 before, 1 after/)
    expect(message).toMatch(/^\S+ +gate +0 +1$/m)
    expect(git(folder, 'show', 'better:AGENTS.md')).toBe(`# Rules\n\nBe brief.\n\n${LESSON}\n`)
    expect(git(folder, 'diff', '--name-only', 'main', 'better').trim()).toBe('AGENTS.md')
    expect([git(folder, 'status', '--porcelain'), readFileSync(join(folder, 'AGENTS.md'), 'utf8')]).toEqual([
      before,
      '# Rules\n\nBe brief.\n',
    ])
  },
  15 * MINUTES,
)
