/** Sessions at a release, and the lines that pin a client to one. */
import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import type { ListedRecord } from '@svc-ai/client'
import { pinHeaders, pullCommand, sessionsIn, updateCommand } from './pins.ts'

const at = (created_at: number, session?: string): ListedRecord => ({
  sequence: created_at,
  agent_record_id: `r${created_at}`,
  request_type: 'inference',
  created_at,
  references: [],
  artifact_ref: 'r1',
  score: null,
  ...(session !== undefined && { summary: { latency_ms: 1, session } }),
})

it('lists each session once, the one that was last heard of first, and calls without one together', () => {
  expect(sessionsIn([at(9, 'b'), at(8), at(7, 'a'), at(6, 'b'), at(5)])).toEqual([
    { session: 'b', count: 2, at: 9 },
    { session: null, count: 2, at: 8 },
    { session: 'a', count: 1, at: 7 },
  ])
})

it.each(["it's", '$(touch x)', '`id`', '"; rm -rf /', '--key'])('hands a scenario called %s to the command as one word', (scenario) => {
  const line = pullCommand('http://h', scenario, 'r1')
  // A function of a shell has no dash in its name.
  const script = `client() { printf '%s\\n' "$@"; }; ${line.replace('svc-client', 'client')}`
  const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trim().split('\n')
  expect(words).toEqual(['pull', './harness', '--url', 'http://h', `--scenario=${scenario}`, '--release=r1'])
})

it('names the command of the agent, and none where there is none', () => {
  expect(updateCommand('pi', 'r1')).toBe("svc-pi update --release='r1'")
  expect(updateCommand(null, 'r1')).toBeNull()
  expect(pinHeaders('r1').split('\n')).toEqual(['x-svc-tag-session: NAME', 'x-svc-tag-release: r1'])
})
