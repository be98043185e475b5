/** Showing and changing how a scenario trains, from the terminal. */
import { expect, test } from 'vitest'
import { LEDGER_RECIPE } from '../../../test/spec/support/helpers.ts'
import { sharedWorld } from '../../../test/support/world.ts'
import { typeCommand } from '../testing/surroundings.ts'

const here = sharedWorld({ settings: { recipe: LEDGER_RECIPE } })
const type = (...args: readonly string[]) => typeCommand(here.address, ['settings', ...args, '--scenario', 'support'])

test('settings are shown, changed one by one, and taken back', async () => {
  await here.post('/svc/scenarios', { name: 'support' })
  expect((await type()).out).toBe('support\n  training_mode auto\n  everything else as configured (svc config print)')
  const changed = await type('training_mode=manual', 'max_steps=7', 'provisional=canary', 'canary_share=0.25')
  expect([changed.exit, changed.out.split('\n')[0]]).toEqual([0, 'support, from the next step on'])
  expect(JSON.parse((await type('--json')).out)).toEqual({
    scenario: 'support',
    training_mode: 'manual',
    max_steps: 7,
    provisional: 'canary',
    canary_share: 0.25,
  })
  await type('max_steps=', 'provisional=', 'canary_share=')
  expect(JSON.parse((await type('--json')).out)).toEqual({ scenario: 'support', training_mode: 'manual' })
})

test.each([
  ['max_steps', 'say what it is to be, such as max_cost_per_day=5'],
  ['max_dogs=3', 'is no setting of a scenario; there are training_mode, provisional'],
  ['max_steps=many', 'max_steps: must be a whole number, 0 or more'],
  ['training_mode=fast', "training_mode: must be 'auto', 'manual' or 'hybrid'"],
  ['max_cost_per_day=5', 'has no use for it'],
])('%s is refused in a line that says what to do', async (change, words) => {
  await here.post('/svc/scenarios', { name: 'support' })
  const { exit, err } = await type(change)
  expect(exit).not.toBe(0)
  expect(err.join('\n')).toContain(words)
})
