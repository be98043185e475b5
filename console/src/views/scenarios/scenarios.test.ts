import { expect, it } from 'vitest'
import type { ScenarioRow, ScenarioStatus, StatusReport } from '@svc-ai/client'
import { statusWith } from '../../data/testing/rows.ts'
import { stateOf } from './scenarios.tsx'

const row = (scenario = 's', loaded = true): ScenarioRow => ({ scenario, loaded, recipe: 'r' })
const status = (one: Partial<ScenarioStatus> & { readonly error?: string } = {}, more: Partial<StatusReport> = {}): StatusReport =>
  statusWith({ scenarios: { s: one }, ...more })

it.each<[string, StatusReport | null, object]>([
  ['nothing known yet', null, { word: 'loaded' }],
  ['a recipe that learns nothing', status({ processor: {} }), { word: 'recording' }],
  ['nothing to do', status({ processor: { pending_instructions: 0 } }), { word: 'waiting' }],
  ['a step at work or due', status({ batch_ready: true, processor: {} }), { word: 'training', tone: 'good' }],
  ['instructions in the queue', status({ processor: { pending_instructions: 2 } }), { word: 'instructions wait' }],
  ['a budget', status({ processor: { automatic_steps_stopped: 'max_steps' } }), { tone: 'warn', line: 'max_steps' }],
  ['a recipe that cannot say', status({ error: 'says nothing' }), { tone: 'bad', line: 'says nothing' }],
  ['a failed step', status({}, { error: 'other: x\ns: StepFailure: no' }), { tone: 'bad', line: 'StepFailure: no' }],
  ['a failed component', status({}, { error: 's/tree: broke' }), { line: 'tree: broke' }],
  ['the trouble of a namesake', status({ processor: {} }, { error: 'ss: x' }), { word: 'recording' }],
  ['a failed start', status({}, { preload_errors: { s: 'no recipe' } }), { line: 'no recipe' }],
])('%s reads so', (_, own, state) => {
  expect(stateOf(row(), own)).toMatchObject(state)
})

it('one that is not loaded sleeps, and one named like a member of every object is no trouble', () => {
  expect(stateOf(row('s', false), status())).toMatchObject({ word: 'asleep' })
  expect(stateOf(row('constructor'), status())).toMatchObject({ word: 'loaded' })
})
