import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { until } from '../../test/support/wait.ts'
import { runCli } from './program.ts'
import { fakeSurroundings, homeWith } from './testing/surroundings.ts'
import { TRAINER_FOLDER, installTorch } from './trainer/python.ts'

/**
 * A Python that has torch once its folder holds a file of that name, makes environments, and trains until its input ends or a signal comes.
 * It fails where it would take a file in the folder it is started in for one of its own.
 */
const PYTHON = `#!${process.execPath}
const { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const words = process.argv.slice(2)
const torch = join(dirname(process.argv[1]), 'torch')
appendFileSync(join(process.env.HOME, 'seen'), words.join(' ') + '\\n')
if (!process.env.PYTHONSAFEPATH) process.exit(9)
if (words[0] === '-c') process.exit(existsSync(torch) ? 0 : 1)
if (words[1] === 'venv') {
  mkdirSync(join(words[3], 'bin'), { recursive: true })
  copyFileSync(process.argv[1], join(words[3], 'bin', 'python3'))
} else if (words[2] === 'config') {
  const file = join(process.env.HOME, 'pip-config')
  if (existsSync(file)) console.log(readFileSync(file, 'utf8'))
} else if (words[1] === 'pip') {
  appendFileSync(join(process.env.HOME, 'pip-environment'), Object.keys(process.env).filter((name) => name.startsWith('PIP_')).sort().join(' '))
  if (existsSync(join(process.env.HOME, 'pip-fails'))) { console.error('no route to host'); process.exit(1) }
  writeFileSync(torch, '')
} else {
  console.log('svc trainer is ready at http://127.0.0.1:1')
  console.error(process.env.PYTHONPATH)
  process.on('SIGTERM', () => process.exit(7))
  process.stdin.resume().on('end', () => process.exit(8))
}
`

function machine(more: Readonly<Record<string, string>> = {}) {
  const environment = { ...homeWith('python3', PYTHON), ...more }
  const { HOME: home } = environment
  const surroundings = fakeSurroundings({}, environment)
  const run = (...args: readonly string[]): Promise<number> => runCli(['trainer', 'start', ...args], surroundings)
  return { ...surroundings, environment, run, home, state: join(home, 'state'), seen: () => readFileSync(join(home, 'seen'), 'utf8') }
}

describe('svc trainer start', () => {
  it('runs the trainer that comes with the service, prints its address, and ends with it on a signal', async () => {
    const made = machine()
    const { run, home, state, printed, complaints, seen } = made
    writeFileSync(join(home, 'tools', 'torch'), '')
    const running = run('--state', state, '--model', 'a=x', '--model', 'b=y', '--port', '0')
    await until(() => printed.length > 0 && complaints.length > 0)
    expect(printed).toEqual(['svc trainer is ready at http://127.0.0.1:1'])
    expect(complaints).toEqual([TRAINER_FOLDER])
    expect(existsSync(join(TRAINER_FOLDER, 'svc_trainer', '__main__.py'))).toBe(true)
    expect(seen()).toContain(`-m svc_trainer serve --end-with-stdin --host=127.0.0.1 --port=0 --state=${state} --device=auto`)
    expect(seen()).toContain('--model=a=x --model=b=y')
    expect(existsSync(state)).toBe(true)
    made.signal('SIGTERM')
    expect(await running).toBe(7)
  })

  it.each([
    ['--python', ['--python', '/nowhere/python3'], {}],
    ['SVC_PYTHON', [], { SVC_PYTHON: '/nowhere/python3' }],
  ])('takes the Python that %s names or none', async (_, args, environment) => {
    const { run, complaints, seen, state } = machine({ ...environment, HOME: temporaryFolder() })
    expect(await run('--state', state, ...args)).toBe(2)
    expect(complaints).toEqual(['the Python named by --python or SVC_PYTHON does not import torch: name another, or leave it out'])
    expect(seen).toThrow('ENOENT')
  })

  it('knows no other device', async () => {
    expect(await machine().run('--device', 'abacus')).toBe(2)
  })
})

describe('an environment of its own', () => {
  it('is begun anew and holds torch', async () => {
    const { environment, home, seen } = machine()
    const python = join(home, '.svc', 'trainer', 'venv', 'bin', 'python3')
    expect(await installTorch(environment)).toBe(python)
    expect(seen()).toMatch(/-m venv --clear .*\n-m pip config list\n-m pip install .*torch\n/)
    expect(existsSync(join(home, '.svc', 'trainer', 'venv', 'bin', 'torch'))).toBe(true)
  })

  it.each([
    ['nothing', '', / --index-url \S+ torch\n/],
    ['another index as well', "global.extra-index-url='https://more.example/simple'", / --index-url \S+ torch\n/],
    ['an index in a file', "global.index-url='https://user:secret@mirror.example/simple'", / --no-user torch\n/],
    ['an index for installing', "install.index-url='https://mirror.example/simple'", / --no-user torch\n/],
    ['an index in a variable', ":env:.index-url='https://mirror.example/simple'", / --no-user torch\n/],
    ['a folder in place of an index', "global.find-links='/wheels'\nglobal.no-index='true'", / --no-user torch\n/],
  ])('takes from the configuration of pip %s', async (_what, configured, asked) => {
    const { environment, home, seen } = machine()
    writeFileSync(join(home, 'pip-config'), configured)
    await installTorch(environment)
    expect(seen()).toMatch(asked)
  })

  it('takes what pip reads from variables, but for what would install something else or elsewhere', async () => {
    const taken = { PIP_CLIENT_CERT: '/c', PIP_DEFAULT_TIMEOUT: '60', PIP_PROXY: 'http://p', PIP_CERT: '/ca', PIP_CONFIG_FILE: '/f' }
    const dropped = { PIP_TARGET: '/t', PIP_PREFIX: '/p', PIP_USER: '1', PIP_ROOT: '/r', PIP_REQUIREMENT: '/q', PIP_EDITABLE: '/e' }
    const { environment, home } = machine({ ...taken, ...dropped })
    await installTorch(environment)
    expect(readFileSync(join(home, 'pip-environment'), 'utf8').split(' ')).toEqual(Object.keys(taken).toSorted())
  })

  it('that cannot be made says why', async () => {
    const { environment, home } = machine()
    writeFileSync(join(home, 'pip-fails'), '')
    await expect(installTorch(environment)).rejects.toMatchObject({
      code: 'not_installed',
      message: expect.stringContaining('no route to host'),
    })
  })
})
