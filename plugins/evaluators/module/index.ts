/** Scores by the default export of the module that `evolution.evaluator_module` names. */
import { createRequire } from 'node:module'
import { isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { define, Refusal, type Evaluator, type JsonObject } from '../../../src/contract/index.ts'

/** The caller checks the score. */
export default define('evaluator', {
  async make(config) {
    const score = await scoreIn(config)
    return { score: async (task, episode, scene) => score(task, episode, scene) }
  },
})

async function scoreIn({ evaluator_module: name, base_directory: base }: JsonObject): Promise<Evaluator['score']> {
  if (typeof name !== 'string' || name.trim() === '') throw refused('must name a module: a package, or a path that starts with ./')
  const module = await load(name, typeof base === 'string' ? base : process.cwd())
  const exported: unknown = Reflect.get(module, 'default')
  if (isScore(exported)) return exported
  throw refused('must name a module whose default export is a function (task, episode, scene)')
}

/** The message leaves out the error's text, which may hold paths; the cause keeps it. */
async function load(name: string, base: string): Promise<object> {
  try {
    const module: object = await import(addressOf(name, base))
    return module
  } catch (error) {
    throw refused(`names a module that cannot be loaded (${kindOf(error)}); check that it exists and loads by itself`, error)
  }
}

function addressOf(name: string, base: string): string {
  const isPath = isAbsolute(name) || /^\.\.?[/\\]/.test(name)
  return pathToFileURL(isPath ? resolve(base, name) : createRequire(join(base, 'package.json')).resolve(name)).href
}

function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it threw something other than an Error'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

const isScore = (value: unknown): value is Evaluator['score'] => typeof value === 'function'

const refused = (rule: string, cause?: unknown): Refusal =>
  new Refusal('invalid', 'evaluator_module', `evolution.evaluator_module ${rule}`, { cause })
