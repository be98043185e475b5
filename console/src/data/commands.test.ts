import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { firstCommand, modeCommand } from './commands.ts'

/** What the shell would hand to curl: what it reads first, then its arguments. */
const wordsOf = (command: string): readonly string[] =>
  execFileSync('sh', ['-c', `curl() { case "$*" in *@-*) cat ;; esac; printf '%s\\n' "$@"; }; SVC_TOKEN=secret; ${command}`], {
    encoding: 'utf8',
  })
    .trim()
    .split('\n')

it('switches the mode of a scenario', () => {
  expect(modeCommand('http://127.0.0.1:8900', 'demo', 'hybrid', false)).toBe(
    `curl -sS 'http://127.0.0.1:8900/svc/scenarios/demo/update' -d '{"training_mode":"hybrid"}'`,
  )
})

it('has the shell put in the token, and never holds it', () => {
  const command = modeCommand('http://h', 'demo', 'manual', true)
  expect(command).not.toContain('secret')
  expect(wordsOf(command)).toEqual([
    'authorization: Bearer secret',
    '-sS',
    '-H',
    '@-',
    'http://h/svc/scenarios/demo/update',
    '-d',
    expect.any(String),
  ])
})

it.each(["it's", '$(touch x)', '`id`', '"; rm -rf /', 'a b', '東京'])(
  'is one address to the shell for a scenario called %s',
  (scenario) => {
    expect(wordsOf(modeCommand('http://h', scenario, 'manual', false))[1]).toBe(
      `http://h/svc/scenarios/${encodeURIComponent(scenario)}/update`,
    )
  },
)

it.each(["it's", '$(touch x)', '`id`', '"; rm -rf /', '東京'])('names a scenario called %s in one header', (scenario) => {
  const words = wordsOf(firstCommand('http://h', scenario, true))
  expect(words).toContain(`x-svc-scenario: ${scenario}`)
  expect(words[0]).toBe('authorization: Bearer secret')
  expect(JSON.parse(words.at(-1) ?? '')).toMatchObject({ model: 'practice' })
})
