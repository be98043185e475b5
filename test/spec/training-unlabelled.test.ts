/** Traffic without any report teaches too: the step works on the exchanges that seem to have failed. */
import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ownWorld } from '../support/world.ts'
import { lastLine, ROMAN_LESSON, ROMAN_RULE, ROMAN_TASKS, romanPrompt, ROMANS_ASKED } from '../support/romans.ts'
import { named, textAt } from './support/helpers.ts'
import { fresh, memberOf } from './support/trainee.ts'

/** More than a proposer is shown. */
const OTHERS = 26
const FAILING = Object.keys(ROMANS_ASKED).slice(0, 3)

it('traffic without a report makes a step on what was corrected in the next turn, and publishes what fixes it [training.records]', async () => {
  const here = await ownWorld({ backend: 'sqlite' })
  await here.restart({
    recipe: 'harness',
    'inference.runtime': 'practice',
    'data.training_mode': 'auto',
    'data.batch_policy': 'records',
    'pipeline.task2batch.config.batch_size': OTHERS + 2 * FAILING.length,
    'evolution.executor': 'local',
    'evolution.proposer': 'text',
    'evolution.selection': 'score_comparison',
    'evolution.seed': JSON.stringify([ROMAN_RULE]),
    'evolution.tasks': JSON.stringify(ROMAN_TASKS.slice(0, 2)),
    'evolution.proposals_dir': join(here.directory, 'proposals'),
    'evolution.step_record_dir': join(here.directory, 'steps'),
  })
  const s = await fresh(here)
  type Message = { readonly role: string; readonly content: string }
  const say = async (messages: readonly Message[]): Promise<string> => {
    const { json } = await here.post('/v1/chat/completions', { model: 'practice', messages: [...messages] }, named(s.name))
    const [choice] = Array.isArray(json['choices']) ? json['choices'] : []
    return textAt(memberOf(choice, 'message'), 'content')
  }
  for (let n = 0; n < OTHERS; n += 1) await say([{ role: 'user', content: `Tell me something nice about the number ${n}.` }])
  for (const number of FAILING) {
    const asked = [{ role: 'user', content: romanPrompt(number) }]
    const content = await say(asked)
    expect(lastLine(content)).not.toBe(ROMANS_ASKED[number])
    await say([...asked, { role: 'assistant', content }, { role: 'user', content: 'No, that is not right.' }])
  }
  const row = await s.row(1)
  expect(row).toMatchObject({ operation: 'train', metrics: { traces: OTHERS + 2 * FAILING.length, seeming_failures: FAILING.length } })
  const record = textAt(memberOf(row, 'metrics'), 'step_record')
  const calls: string = await readFile(join(here.directory, 'steps', record, 'proposer.json'), 'utf8')
  const shown = [...calls.matchAll(/\{\\\\?"user\\\\?":\\\\?"([^"\\]*)/g)].map(([, user]) => user)
  expect(shown.slice(0, FAILING.length)).toEqual(FAILING.map(romanPrompt))
  expect(calls).toContain('the person says that it is wrong')
  expect(await s.release()).toMatchObject({ result: 'published' })
  expect(JSON.stringify((await here.get('/svc/harness', named(s.name))).json['files'])).toContain(ROMAN_LESSON)
}, 60_000)
