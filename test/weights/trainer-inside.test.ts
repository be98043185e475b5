import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { trainerEnvironment } from '../../src/cli/trainer/python.ts'
import { tinyModel } from './support/tiny-model.ts'
import { pythonWithTorch } from './support/torch.ts'

const LOOK = join(import.meta.dirname, 'support', 'look_inside.py')

const seen = z.object({
  /** The largest difference of a gradient, and the largest of its numbers. */
  gradient: z.object({ apart: z.number(), largest: z.number() }),
  /** After a session fell silent, whose model was unloaded before. */
  kept: z.object({ asked: z.number(), answers: z.number(), bytes: z.number() }),
  answers: z.array(z.string()),
  plain: z.array(z.boolean()),
})
let inside: z.infer<typeof seen>

beforeAll(async () => {
  const python = await pythonWithTorch()
  const { stdout } = await promisify(execFile)(python, [LOOK, await tinyModel()], { env: trainerEnvironment(process.env) })
  inside = seen.parse(JSON.parse(stdout))
})

describe('the trainer', () => {
  it('gathers the same gradient in one call as in several, whatever the lengths of the rows', () => {
    const { apart, largest } = inside.gradient
    expect(largest).toBeGreaterThan(0.01)
    expect(apart / largest).toBeLessThan(1e-5)
  })

  it('remembers nothing of a session that fell silent, its unloaded models included', () => {
    expect(inside.kept).toEqual({ asked: 0, answers: 0, bytes: 0 })
  })

  it('goes on working after an answer that cannot be written', () => {
    const [notFinite, notJson, whole] = inside.answers
    expect([notFinite, notJson]).toEqual([expect.stringContaining('"category": "server"'), expect.stringContaining('"category": "server"')])
    expect(whole).toBe('{"fine": true}')
  })

  it('computes by itself only what it computes rightly', () => {
    expect(inside.plain).toEqual([true, true, false, false])
  })
})
