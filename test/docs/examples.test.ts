/** Every kind of plug-in has an example, and every example is run by a test of this folder. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import type { Kind } from '../../src/contract/index.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** The compiler finds the one that is missing here. */
const KINDS: Readonly<Record<Kind, true>> = {
  recipe: true,
  adapter: true,
  processor: true,
  trainer: true,
  proposer: true,
  evaluator: true,
  selection: true,
  objective: true,
  examiner: true,
  executor: true,
  miner: true,
  runtime: true,
  gateway: true,
  redactor: true,
  store: true,
  contents: true,
}
/** Tasks are no plug-ins: files for any agent, in any language. */
const TASKS = 'tasks'

const examples = globSync('examples/*/*.ts', { cwd: ROOT }).filter((path) => !path.startsWith(`examples/${TASKS}/`))
const tests = globSync('test/docs/*.test.ts', { cwd: ROOT }).map((path) => readFileSync(join(ROOT, path), 'utf8'))

it('each kind has a folder of examples, and there is no folder of anything else', () => {
  const folders = new Set(examples.map((path) => dirname(path).slice('examples/'.length)))
  expect([...folders].toSorted()).toEqual(Object.keys(KINDS).toSorted())
  const all = globSync('examples/*', { cwd: ROOT }).map((path) => path.slice('examples/'.length))
  expect(all.toSorted()).toEqual([...folders, TASKS].toSorted())
})

it.each(examples)('%s is imported by a test, or loaded by its path', (path) => {
  const isUsed = (text: string): boolean => text.includes(`from '../../${path}'`) || text.includes(`: './${path}'`)
  expect(tests.some(isUsed)).toBe(true)
})
