import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { firstCommand } from './commands.ts'

/** What the shell would hand to curl: what it reads first, then its arguments. */
const wordsOf = (command: string): readonly string[] =>
  execFileSync('sh', ['-c', `curl() { case "$*" in *@-*) cat ;; esac; printf '%s\\n' "$@"; }; SVC_TOKEN=secret; ${command}`], {
    encoding: 'utf8',
  })
    .trim()
    .split('\n')

it('has the shell put in the token, and never holds it', () => {
  const command = firstCommand('http://h', 'demo', true)
  expect(command).not.toContain('secret')
  expect(wordsOf(command).slice(0, 4)).toEqual(['authorization: Bearer secret', '-sS', '-H', '@-'])
})

it.each(["it's", '$(touch x)', '`id`', '"; rm -rf /', '東京'])('names a scenario called %s in one header', (scenario) => {
  const words = wordsOf(firstCommand('http://h', scenario, true))
  expect(words).toContain(`x-svc-scenario: ${scenario}`)
  expect(words[0]).toBe('authorization: Bearer secret')
  expect(JSON.parse(words.at(-1) ?? '')).toMatchObject({ model: 'practice' })
})
