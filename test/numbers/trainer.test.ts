/** The trainer's numbers beside others'. `npm test` takes this file where PyTorch and PEFT are installed, `npm run test:machine` installs them. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { trainerEnvironment } from '../../src/cli/trainer/python.ts'
import { tinyModel } from '../weights/support/tiny-model.ts'
import { pythonWithTorch } from '../weights/support/torch.ts'
import { peftFolder } from './peft.ts'

const APART_MOST = 1e-6

const compared = z.object({
  /** The largest difference of a weight after fifty steps: without and with decay and clipping. */
  adam: z.array(z.number()),
  /** The largest difference of each loss and its gradient from the published formula. */
  losses: z.object({ cross_entropy: z.number(), importance_sampling: z.number(), ppo: z.number() }),
  /** The largest difference of a weight after one step, and the way of the one that went furthest: without and with decay. */
  steps: z.array(z.object({ apart: z.number(), moved: z.number() })).length(2),
})
let numbers: z.infer<typeof compared>

beforeAll(async () => {
  const path = [peftFolder(), import.meta.dirname].join(':')
  const env = trainerEnvironment({ ...process.env, PYTHONPATH: path, HF_HUB_OFFLINE: '1' })
  const { stdout } = await promisify(execFile)(await pythonWithTorch(), [join(import.meta.dirname, 'compare.py'), await tinyModel()], {
    env,
  })
  numbers = compared.parse(JSON.parse(stdout))
})

describe('the trainer', () => {
  it("steps as PyTorch's own AdamW does, clipped by norm and not", () => {
    expect(Math.max(...numbers.adam)).toBeLessThan(APART_MOST)
  })

  it('computes every loss, and its gradient, as the published formula', () => {
    for (const apart of Object.values(numbers.losses)) expect(apart).toBeLessThan(APART_MOST)
  })

  it("takes one step as PEFT with PyTorch's AdamW does, with decay and without", () => {
    for (const { apart, moved } of numbers.steps) {
      expect(moved).toBeGreaterThan(50 * APART_MOST)
      expect(apart).toBeLessThan(APART_MOST)
    }
  })
})
