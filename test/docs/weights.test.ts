/** docs/weights.md can be followed from its first line to its last, and the model it trains says what was liked. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ENV } from '../../src/contract/index.ts'
import { temporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/listen.ts'
import { withLlama } from '../weights/support/llama.ts'
import { tinyModel } from '../weights/support/tiny-model.ts'
import { pythonWithTorch } from '../weights/support/torch.ts'
import { followDocument, type Session } from './blocks.ts'

const MINUTES = 60_000
const PAGE = 'docs/weights.md'
const CHECKOUT = join(import.meta.dirname, '..', '..')

/** What takes minutes the first time is done before: the model, the library and PyTorch. */
async function follow(): Promise<Session> {
  withLlama()
  await tinyModel()
  return followDocument(PAGE, temporaryFolder(), {
    CHECKOUT,
    PORT: String(await freePort()),
    TRAINER_PORT: String(await freePort()),
    [ENV.python]: await pythonWithTorch(),
    [ENV.runtimes]: process.env[ENV.runtimes] ?? '',
  })
}

it(`${PAGE} trains a model by what is liked, and takes it back`, { timeout: 10 * MINUTES }, async () => {
  const [installed, trainer, , asked = '', first, learnt = '', watched, back = ''] = (await follow()).blocks
  expect(installed).toMatch(/^llama is installed/m)
  expect(trainer).toMatch(/is ready at http/)
  expect(first).toMatch(/^\* +v1 .*published/m)
  const [before, after, restored] = [asked, learnt, back].map((printed) => Number(printed.trim().split('\n').at(-1)))
  expect(before).toBeLessThan(12)
  expect(after).toBeGreaterThan(18)
  expect(restored).toBe(before)
  expect(watched).toMatch(/"current_runtime_load_id":"[^":]+:[2-4]"/)
  expect(watched).toMatch(/"rollout_log_probs":\[-/)
})
