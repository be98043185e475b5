/** Completion in the real shells, against a real service. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { COMPILED } from '../../../test/support/compiled.ts'
import { sharedFolder } from '../../../test/support/folder.ts'
import { program } from '../../../test/support/programs.ts'
import { sharedWorld } from '../../../test/support/world.ts'
import { execute } from '../testing/surroundings.ts'

const folder = sharedFolder()
/** A shell that took this for its own words would make a file. */
const HOSTILE = `$(touch pwned)\`touch pwned\`; touch pwned`
const SVC = join(import.meta.dirname, '../../../test/support/svc.ts')

const here = sharedWorld()
beforeAll(async () => {
  for (const name of ['support', 'sales team', 'a:b', HOSTILE]) await here.post('/svc/scenarios', { name })
  await writeFile(join(folder, 'svc'), `#!/bin/sh\nexec "${process.execPath}" --disable-warning=ExperimentalWarning "${SVC}" "$@"\n`)
  await chmod(join(folder, 'svc'), 0o755)
  await writeFile(join(folder, 'svc.yaml'), `svc: { port: ${new URL(here.address).port} }\n`)
})

async function run(command: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const PATH = [folder, process.env['PATH'] ?? ''].join(delimiter)
  const env = { HOME: folder, PATH, LC_ALL: 'C.UTF-8', SVC_URL: here.address, ...COMPILED, ...environment }
  return (await promisify(execFile)(command, [...args], { cwd: folder, env })).stdout
}

async function scriptFor(shell: string): Promise<string> {
  const { exit, out } = await execute(['completion', shell])
  expect(exit).toBe(0)
  const file = join(folder, `completion.${shell}`)
  await writeFile(file, out)
  return file
}

type Offers = (words: readonly string[], environment?: Readonly<Record<string, string>>) => Promise<readonly string[]>

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '')
const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`

const SHELLS: readonly (readonly [shell: string, offers: Offers])[] = [
  [
    'bash',
    async (words, environment) => {
      const drive = `source completion.bash; COMP_WORDS=(${words.map(quoted).join(' ')}); COMP_CWORD=${words.length - 1}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`
      return linesOf(await run('bash', ['--norc', '-c', drive], environment))
    },
  ],
  [
    'zsh',
    async (words, environment) => {
      // Outside of a line that is being typed there is nothing to add to; what would be added is printed instead.
      const stand = `compdef() { :; }; compadd() { local one; for one in "\${@[2,-1]}"; do [[ $one == "\${words[CURRENT]}"* ]] && print -r -- "$one"; done; }; _files() { print -r -- FILES; }`
      const drive = `${stand}; source ./completion.zsh; words=(${words.map(quoted).join(' ')}); CURRENT=${words.length}; _svc; true`
      return linesOf(await run(program('zsh'), ['-f', '-c', drive], environment))
    },
  ],
  [
    'fish',
    async (words, environment) => {
      const line = words.map((word, at) => (at === words.length - 1 ? word : quoted(word))).join(' ')
      const printed = await run(program('fish'), ['--no-config', '-c', `source completion.fish; complete -C ${quoted(line)}`], environment)
      return linesOf(printed).map((offer) => offer.split('\t')[0] ?? '')
    },
  ],
]

describe.each(SHELLS)('%s', (shell, offers) => {
  beforeAll(async () => {
    await run(program(shell), ['-n', await scriptFor(shell)])
  })

  test('knows the commands', async () => {
    expect(await offers(['svc', 're'])).toEqual(expect.arrayContaining(['records', 'releases']))
    expect(await offers(['svc', 're'])).not.toContain('serve')
    expect(await offers(['svc', 'config', 'p'])).toEqual(['print'])
    expect(await offers(['svc', 'completion', ''])).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']))
  })

  test('knows the options of each, and the words an option takes', async () => {
    expect(await offers(['svc', 'rollback', '--y'])).toEqual(['--yes'])
    expect(await offers(['svc', 'records', '--ex'])).toEqual(['--export'])
    expect(await offers(['svc', 'records', '--type', 'r'])).toEqual(['report'])
    expect(await offers(['svc', 'completion', '--na'])).toEqual([])
  })

  test('knows the scenarios of the service, and takes a name for a name, whatever it holds', async () => {
    const names = (await offers(['svc', 'releases', ''])).map((name) => name.replaceAll('\\', ''))
    expect(names).toEqual(expect.arrayContaining(['support', 'sales team', HOSTILE]))
    expect(existsSync(join(folder, 'pwned'))).toBe(false)
  })

  test('asks the service that the configuration on the line names', async () => {
    expect(await offers(['svc', 'promote', 'v1', '-c', 'svc.yaml', '--scenario', 'sup'], { SVC_URL: '' })).toEqual(['support'])
  })

  test('offers no name, and says nothing, where no service answers', async () => {
    expect(await offers(['svc', 'tail', 'sup'], { SVC_URL: 'http://127.0.0.1:2' })).toEqual([])
  })
})

test('a shell must be named, and be one of the three', async () => {
  const unnamed = 'name your shell; one of: svc completion bash, svc completion zsh, svc completion fish'
  const unknown = "command-argument value 'tcsh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish."
  expect(await execute(['completion'])).toMatchObject({ exit: 2, err: [unnamed] })
  expect(await execute(['completion', 'tcsh'])).toMatchObject({ exit: 2, err: [unknown] })
})
