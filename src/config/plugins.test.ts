import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharedFolder } from '../../test/support/folder.ts'
import { define, type Kind } from '../contract/index.ts'
import { loadPlugin, type Builtins } from './plugins.ts'

const act = () => undefined
const selection = { decide: () => ({ selected: true, reason: 'always' }) }
const builtins: Builtins = {
  selection: { always: () => Promise.resolve({ default: define('selection', selection) }) },
  evaluator: {},
}

const folder = sharedFolder()
const write = (path: string, text: string) => {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), text)
  return join(folder, path)
}
const MADE = `{ contract: 1, kind: 'evaluator', plugin: { score: async () => 1 } }`
const absolute = write('good.mjs', `export default ${MADE}\nexport const other = ${MADE}\nexport const broken = 5`)
write('newer.mjs', `export default { contract: 2, kind: 'evaluator', plugin: {} }`)
write('kindred.mjs', `export default { contract: 1, kind: 'selection', plugin: {} }`)
write('hollow.mjs', `export default { contract: 1, kind: 'evaluator' }`)
write('unable.mjs', `export default { contract: 1, kind: 'evaluator', plugin: { score: 1 } }`)
write('throws.mjs', `throw new Error('no luck')`)
write('node_modules/@acme/review/package.json', '{"name":"@acme/review","type":"module","exports":"./index.js"}')
write('node_modules/@acme/review/index.js', `export const grade = ${MADE}`)

describe('a plug-in is found by', () => {
  test('a built-in name', async () => {
    expect(await loadPlugin('selection', 'always', builtins, folder)).toBe(selection)
  })

  test.each(['./good.mjs', absolute, './good.mjs#other', '@acme/review#grade'])('%s', async (name) => {
    const evaluator = await loadPlugin('evaluator', name, builtins, folder)
    expect(evaluator).toHaveProperty('score')
  })
})

describe('a plug-in is refused', () => {
  test.each([
    ['./newer.mjs', 'found contract 2; this service speaks contract 1'],
    ['./kindred.mjs', "wanted export default made by define('evaluator', …), found a plug-in of kind selection"],
    ['./hollow.mjs', 'found a definition without a plug-in in it'],
    ['./unable.mjs', 'evaluator plug-in ./unable.mjs: wanted score to be a function, found something else'],
    ['./good.mjs#missing', "wanted export missing made by define('evaluator', …), found no such export"],
    ['./good.mjs#broken', 'found something that define() did not make'],
    ['./throws.mjs', 'evaluator plug-in ./throws.mjs cannot be loaded: no luck'],
    ['./absent.mjs', 'evaluator plug-in ./absent.mjs cannot be loaded'],
    ['@acme/absent', 'is neither built in nor an installed package, and a path starts with ./; those built in are: none'],
  ])('%s: %s', async (name, problem) => {
    await expect(loadPlugin('evaluator', name, builtins, folder)).rejects.toThrow(problem)
  })

  test('with the built-in name that was meant', async () => {
    await expect(loadPlugin('selection', 'alwyas', builtins, folder)).rejects.toThrow('did you mean always?')
  })

  test('when the name is one of every object', async () => {
    await expect(loadPlugin('selection', 'toString', builtins, folder)).rejects.toThrow('neither built in')
  })
})

/** Under a name of its own, as a module that a bundler made: nothing has checked its types. */
function loadMine(kind: Kind, plugin: unknown): Promise<unknown> {
  const module = { default: { contract: 1, kind, plugin } }
  return loadPlugin(kind, 'mine', Object.fromEntries([[kind, { mine: () => Promise.resolve(module) }]]), folder)
}

describe('a recipe that is made of its settings', () => {
  test('is let in with its make alone', async () => {
    const plugin = { make: act }
    expect(await loadMine('recipe', plugin)).toBe(plugin)
  })

  test('is refused when its make is no function, even beside a bind', async () => {
    await expect(loadMine('recipe', { make: {}, bind: act })).rejects.toThrow('wanted make to be a function, found an object')
  })
})

/** The smallest plug-in of each kind that is let in. */
const made = { make: act }
const adapter = { name: 'a', trajectory_format: 'f', layout: {}, bindings: {} }
const WHOLE: Readonly<Record<Kind, Readonly<Record<string, unknown>>>> = {
  recipe: { bind: act },
  adapter: { ...adapter, launch: act, readTrajectory: act },
  processor: made,
  trainer: made,
  proposer: { acceptsRequests: false, propose: act },
  evaluator: { score: act },
  selection: { decide: act },
  objective: { name: 'o', loss: 'ppo', needsLogProbs: true, prepare: act },
  examiner: { examine: act },
  executor: made,
  miner: made,
  runtime: made,
  gateway: made,
  redactor: made,
  store: made,
  contents: made,
}
const isKind = (name: string): name is Kind => Object.hasOwn(WHOLE, name)

describe.each(Object.keys(WHOLE).filter(isKind))('a %s', (kind) => {
  const load = (plugin: unknown) => loadMine(kind, plugin)

  test('is let in with its required members alone', async () => {
    expect(await load(WHOLE[kind])).toBe(WHOLE[kind])
  })

  test('may have its members from a class', async () => {
    const inherited: unknown = Object.create(WHOLE[kind])
    expect(await load(inherited)).toBe(inherited)
  })

  test.each(Object.keys(WHOLE[kind]))('is refused without its %s, or with another thing under that name', async (member) => {
    const { [member]: _left, ...rest } = WHOLE[kind]
    const type = /(a function|text|an object|true or false)/.source
    await expect(load(rest)).rejects.toThrow(new RegExp(`^${kind} plug-in mine: wanted ${member} to be ${type}, found nothing$`))
    await expect(load({ ...rest, [member]: null })).rejects.toThrow(new RegExp(`wanted ${member} to be ${type}, found something else$`))
  })

  test('is refused with every member it lacks at once', async () => {
    const refusal: unknown = await load({}).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ name: 'ConfigProblem', problems: { length: Object.keys(WHOLE[kind]).length } })
  })
})
