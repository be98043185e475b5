/** The commands at a real terminal: colours, questions and Ctrl-C. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { COMPILED } from '../../test/support/compiled.ts'
import { trainee } from '../../test/spec/support/trainee.ts'
import { makePlace } from '../../test/support/place.ts'
import { program } from '../../test/support/programs.ts'
import { until } from '../../test/support/wait.ts'
import { send, sharedWorld } from '../../test/support/world.ts'
import { HOLDING, typeCommand } from './testing/surroundings.ts'

const SVC = join(import.meta.dirname, '../../test/support/svc.ts')
const CTRL_C = '\u0003'

const here = sharedWorld({ settings: HOLDING })
beforeAll(async () => {
  await here.exchange('support')
  await trainee(here, 'support').ask('Be brief.')
  await trainee(here, 'support').row(1)
  await typeCommand(here.address, ['promote', 'v1'])
})

/** What to type, or how to find it out by what is shown. */
type Keys = string | ((screen: string) => Promise<string>)

/** Types the keys once the terminal shows that text; answers everything it showed, and the exit code. */
async function atTerminal(args: readonly string[], keysAt: readonly (readonly [shown: string | RegExp, keys: Keys])[] = [], more = {}) {
  const line = [process.execPath, '--disable-warning=ExperimentalWarning', SVC, ...args].map((word) => `'${word}'`).join(' ')
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, TERM: 'xterm', SVC_URL: here.address, ...COMPILED, ...more }
  const child = spawn(program('script'), ['-qefc', `stty cols 60; exec ${line}`, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill())
  let screen = ''
  child.stdout.on('data', (part: Buffer) => {
    screen += part.toString()
  })
  const ended = once(child, 'close')
  for (const [shown, keys] of keysAt) {
    await until(() => (typeof shown === 'string' ? screen.includes(shown) : shown.test(screen)))
    child.stdin.write(typeof keys === 'string' ? keys : await keys(screen))
  }
  const [code]: unknown[] = await ended
  return { code, screen }
}

test('tables are coloured and fit the terminal, unless colours are off', async () => {
  const { code, screen } = await atTerminal(['releases'])
  expect(code).toBe(0)
  expect(screen).toContain('\u001b[32mpublished\u001b[0m')
  const plain = (await atTerminal(['releases'], [], { NO_COLOR: '1' })).screen
  expect(plain).not.toContain('\u001b')
  for (const row of plain.split('\r\n').slice(2, 6)) expect(row.length).toBeLessThanOrEqual(60)
})

test('progress stays in the one line that it is drawn over', async () => {
  const folder = join(temporaryFolder(), `long-${'x'.repeat(80)}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'task.yaml'), 'prompt: Add.\nverify: [sh, -c, exit 1]\n')
  const { screen } = await atTerminal(['tasks', 'check', folder, '--repeats', '1', '--executor', 'local'])
  const drawn = screen.split('\r\u001b[2K').slice(1, -1)
  expect(drawn.length).toBeGreaterThan(0)
  for (const line of drawn) expect(line.length).toBeLessThan(60)
})

test('Ctrl-C at the question changes nothing; an answer does what it says', async () => {
  const left = await atTerminal(['rollback', 'v0'], [['Roll back? [y/N]', CTRL_C]])
  expect(left.code).toBe(2)
  expect(left.screen).toContain('nothing was changed')
  expect(await trainee(here, 'support').head()).toMatchObject({ step: 2 })
  const { code, screen } = await atTerminal(['rollback', 'v0'], [['Roll back? [y/N]', 'y\r']])
  expect(code).toBe(0)
  expect(screen).toContain('undo: svc rollback v2 --scenario support')
})

test('Ctrl-C ends a tail as it should end', async () => {
  const { code, screen } = await atTerminal(['tail'], [['inference', CTRL_C]])
  expect(code).toBe(0)
  expect(screen).toMatch(/inference {2}[0-9a-f]{32}/)
})

async function askNowhere(screen: string): Promise<string> {
  const [, address = ''] = /ready at (\S+)/.exec(screen) ?? []
  await send(address, 'GET', '/nowhere', {})
  return ''
}

test.each([
  ['lines for a person', [], /^\d\d:\d\d:\d\d {2}GET {5}\/nowhere {2}404 {2}[\d.]+ ms/m],
  ['JSON where it is asked for', ['--svc.log', 'json'], /^\{"time":.*"event":"request".*"status":404/m],
])('a service that serves writes its log to a terminal as %s', async (_, more, line) => {
  const place = await makePlace()
  const { screen } = await atTerminal(
    ['serve', ...place.args(), ...more],
    [
      [/ready at \S+\s/, askNowhere],
      [/404/, CTRL_C],
    ],
    { NO_COLOR: '1' },
  )
  expect(screen).toMatch(line)
})
