/** The evaluator module, with modules that score, that fail and that are none. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bareScene, evaluatorConformance } from '../../../conformance/index.ts'
import type { Episode, Evaluator, JsonObject, Task } from '../../../src/contract/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import module from './index.ts'

const task: Task = { name: 't', prompt: 'p', role: 'gate' }
const episode: Episode = { exitCode: 0, stdout: 'four', stderr: '', trajectory: [] }
const scene = bareScene()

const make = async (config: JsonObject): Promise<Evaluator> => module.plugin.make(config)

/** The evaluator of a module with this text. */
function evaluatorOf(code: string): Promise<Evaluator> {
  const base_directory = temporaryFolder()
  writeFileSync(join(base_directory, 'mine.mjs'), code)
  return make({ evaluator_module: './mine.mjs', base_directory })
}

describe('the evaluator module', async () => {
  evaluatorConformance({
    describe,
    it,
    evaluator: await make({ evaluator_module: './length.fixture.ts', base_directory: import.meta.dirname }),
    task,
    good: episode,
    bad: { ...episode, stdout: 'fourteen' },
  })

  it('hands the function all three, and waits for it', async () => {
    const evaluator = await evaluatorOf(
      'export default async (task, { stdout }, { signal }) => stdout.length + task.name.length + signal.aborted',
    )
    expect(await evaluator.score(task, episode, scene)).toBe(5)
  })

  it.each<readonly [string, unknown]>([
    ['NaN', Number.NaN],
    ['Infinity', Infinity],
    ['"0.5"', '0.5'],
    ['undefined', undefined],
    ['null', null],
  ])('passes on %s as it is', async (code, answer) => {
    const evaluator = await evaluatorOf(`export default () => ${code}`)
    expect(await evaluator.score(task, episode, scene)).toBe(answer)
  })

  it('passes on what the function throws', async () => {
    const evaluator = await evaluatorOf('export default () => { throw new Error("out of luck") }')
    await expect(evaluator.score(task, episode, scene)).rejects.toThrow('out of luck')
  })

  it('finds a package from where the configuration lies', async () => {
    const config = { evaluator_module: 'zod', base_directory: process.cwd() }
    await expect(make(config)).rejects.toThrow('default export is a function')
  })

  it.each<readonly [string, JsonObject, string]>([
    ['no module', {}, 'must name a module'],
    ['a blank name', { evaluator_module: ' ' }, 'must name a module'],
    ['one that is not there', { evaluator_module: './nowhere.mjs' }, 'ERR_MODULE_NOT_FOUND'],
    ['a package that is not there', { evaluator_module: 'no-such-package-of-ours' }, 'MODULE_NOT_FOUND'],
  ])('refuses %s, and names the setting, not the machine', async (_what, config, words) => {
    const base_directory = temporaryFolder()
    const refused = make({ ...config, base_directory })
    await expect(refused).rejects.toMatchObject({ name: 'Refusal', kind: 'invalid', code: 'evaluator_module' })
    await expect(refused).rejects.toThrow(words)
    await expect(refused).rejects.not.toThrow(base_directory)
  })

  it.each([
    ['does not parse', 'export default ('],
    ['throws while it loads', 'throw new Error("no")'],
    ['throws what is no error', 'throw 7'],
    ['exports no function', 'export default { score: 1 }'],
    ['exports nothing by default', 'export const score = () => 1'],
  ])('refuses a module that %s', async (_what, code) => {
    await expect(evaluatorOf(code)).rejects.toMatchObject({ name: 'Refusal', code: 'evaluator_module' })
  })
})
