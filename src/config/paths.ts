/** Paths of the configuration, each made absolute once: no part of the service, and no program it starts, goes by a working directory of its own. */
import { isAbsolute, resolve } from 'node:path'
import { isRemoteRepository } from '../contract/index.ts'
import type { Given } from './problem.ts'
import type { Settings } from './schema.ts'

export interface Folders {
  /** The folder of the configuration file: what paths in the file and paths by default start from. The working directory without a file. */
  readonly base: string
  /** What paths on the command line start from. */
  readonly working: string
}

/** Where data of the service lies, and where a relative path would have led that started from the working directory. */
export interface DataPath {
  readonly key: string
  readonly path: string
  readonly inWorking: string
}

export interface PathReading {
  readonly settings: Settings
  readonly data: readonly DataPath[]
}

export function readPaths(settings: Settings, given: ReadonlyMap<string, Given>, { base, working }: Folders): PathReading {
  const data: DataPath[] = []
  const startOf = (key: string): string => (given.get(key)?.origin === 'command line' ? working : base)
  const file = (key: string, value: string): string => resolve(startOf(key), value)
  const kept = (key: string, value: string): string => {
    const path = file(key, value)
    data.push({ key, path, inWorking: resolve(working, value) })
    return path
  }
  const evolutionOf = (section: string, evolution: Settings['evolution']): Settings['evolution'] => ({
    ...evolution,
    binary: optional(evolution.binary, (value) => (isProgramPath(value) ? file(`${section}.binary`, value) : value)),
    tasks_dir: optional(evolution.tasks_dir, (value) => file(`${section}.tasks_dir`, value)),
    evaluator_module: optional(evolution.evaluator_module, (value) =>
      isModulePath(value) ? file(`${section}.evaluator_module`, value) : value,
    ),
    proposals_dir: kept(`${section}.proposals_dir`, evolution.proposals_dir),
    step_record_dir: optional(evolution.step_record_dir, (value) => kept(`${section}.step_record_dir`, value)),
  })
  const { storage, inference } = settings
  const { agent_record_dir: records, artifact_repository: repository } = storage
  const { model } = inference.engine
  const absolute: Settings = {
    ...settings,
    storage: {
      ...storage,
      agent_record_dir: kept('storage.agent_record_dir', records),
      artifact_repository: isRemoteRepository(repository) ? repository : kept('storage.artifact_repository', repository),
    },
    inference: {
      ...inference,
      engine: {
        ...inference.engine,
        // With the other engines it is a name, which may well hold a slash.
        model: inference.runtime === 'llama' ? optional(model, (value) => file('inference.engine.model', value)) : model,
      },
    },
    evolution: evolutionOf('evolution', settings.evolution),
    recipes: Object.fromEntries(
      Object.entries(settings.recipes).map(([name, own]) => [
        name,
        { ...own, evolution: evolutionOf(`recipes.${name}.evolution`, own.evolution) },
      ]),
    ),
  }
  return { settings: absolute, data }
}

const optional = (value: string | null, read: (text: string) => string): string | null => (value === null ? null : read(value))

/** A bare name is looked for on PATH. */
const isProgramPath = (value: string): boolean => value.includes('/')

/** As plug-ins are named: anything else is a package. */
const isModulePath = (value: string): boolean => isAbsolute(value) || /^\.\.?[/\\]/.test(value)

/**
 * What an earlier version left in the working directory, where the same path now starts from the folder of the file: a service that starts
 * would pass it over and begin empty. Each with its cure.
 */
export function movedProblems(data: readonly DataPath[], isThere: (path: string) => boolean): readonly string[] {
  // Several recipes may keep theirs in one place.
  const places = new Map(data.toReversed().map((one) => [one.path, one]))
  return [...places.values()]
    .filter(({ path, inWorking }) => path !== inWorking && !isThere(path) && isThere(inWorking))
    .map(
      ({ key, path, inWorking }) =>
        `${key} starts from the folder of the configuration file, where there is nothing yet, and its data is in the working directory; ` +
        `move ${inWorking} to ${path}, or set ${key} to the path in full`,
    )
}
