import { expect, it } from 'vitest'
import type { JsonObject } from '../../../src/contract/index.ts'
import { objectOf, objectsOf, parsed, textOf } from '../../../src/dialects/index.ts'
import { isRight, playTask, scoreOf, type Harness } from './score.ts'
import { PRACTICE_TASKS } from './tasks.ts'
import { promptOf, toolOf } from './testing.ts'
import { think } from './think.ts'

const NOISE = 0.1
const SYSTEM = 'Improve the harness. Answer with a JSON array of entries: {"id", "name", "config"}.'

/** What an agent makes of entries: rules in the prompt, skills listed there and read through a tool. */
function harnessOf(entries: readonly JsonObject[]): Harness {
  const texts = (kind: string): readonly string[] =>
    entries.filter((entry) => entry['name'] === kind).map((entry) => textOf(objectOf(entry['config'])['text']))
  const skills = texts('skill')
  const listed = skills.map((text) => `- ${/name: (.*)/.exec(text)?.[1]}: ${/description: (.*)/.exec(text)?.[1]}`)
  return {
    rules: [...texts('rules'), '## Skills', ...listed].join('\n'),
    tools: [toolOf('skill', 'name')],
    run: (_, input) => skills.find((text) => text.includes(`name: ${textOf(objectOf(parsed(input))['name'])}\n`)) ?? '',
  }
}

function proposal(entries: readonly JsonObject[], step: number): JsonObject {
  const failed = PRACTICE_TASKS.filter((task) => !isRight(task, playTask(task, harnessOf(entries), NOISE)))
  const shown = failed.filter((_, index) => index % 5 === step % 5).map((task) => JSON.stringify({ request: task.prompt, score: 0 }))
  const content = `Step ${step}. Entries: ${JSON.stringify(entries)}\nFailures:\n${shown.join('\n')}`
  const messages = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content },
  ]
  const thought = think(promptOf('chat', { messages }), NOISE)
  return objectsOf(parsed(thought.kind === 'text' ? thought.text : ''))[1] ?? {}
}

it('keeping only proposals that score better, the model improves its own harness far', () => {
  let entries: readonly JsonObject[] = []
  let best = scoreOf(harnessOf(entries), PRACTICE_TASKS, NOISE)
  const bare = best
  let worse = 0
  for (let step = 1; step <= 40; step += 1) {
    const entry = proposal(entries, step)
    const candidate = [...entries.filter((one) => one['id'] !== entry['id']), entry]
    const score = scoreOf(harnessOf(candidate), PRACTICE_TASKS, NOISE)
    if (score < best) worse += 1
    if (score > best) [entries, best] = [candidate, score]
  }
  expect(bare).toBeLessThan(0.3)
  // All but the commands, for which this agent has no shell.
  expect(best).toBeGreaterThan(0.7)
  expect(worse).toBeGreaterThan(0)
  expect(entries.some((entry) => entry['name'] === 'skill')).toBe(true)
})
