/** Makes every path of the configuration absolute, so that nothing depends on the working directory of a process. */
import { isAbsolute, resolve } from 'node:path'
import { isRemoteRepository } from '../contract/index.ts'
import type { GivenValue } from './problem.ts'
import type { ConfigValues } from './schema.ts'

export interface Folders {
  /** The base of paths in the file and of default paths: the file's folder, or the working directory without a file. */
  readonly base: string
  /** The base of paths on the command line. */
  readonly working: string
}

/** A path of service data, and the path it would have relative to the working directory. */
export interface DataPath {
  readonly key: string
  readonly path: string
  readonly inWorking: string
}

export function readPaths(settings: ConfigValues, given: ReadonlyMap<string, GivenValue>, { base, working }: Folders) {
  const data: DataPath[] = []
  const startOf = (key: string): string => (given.get(key)?.origin === 'command line' ? working : base)
  const file = (key: string, value: string): string => resolve(startOf(key), value)
  const kept = (key: string, value: string): string => {
    const path = file(key, value)
    data.push({ key, path, inWorking: resolve(working, value) })
    return path
  }
  const evolutionOf = (section: string, evolution: ConfigValues['evolution']): ConfigValues['evolution'] => ({
    ...evolution,
    binary: optional(evolution.binary, (value) => (isProgramPath(value) ? file(`${section}.binary`, value) : value)),
    tasks_dir: optional(evolution.tasks_dir, (value) => file(`${section}.tasks_dir`, value)),
    evaluator_module: optional(evolution.evaluator_module, (value) =>
      isModulePath(value) ? file(`${section}.evaluator_module`, value) : value,
    ),
    proposals_dir: kept(`${section}.proposals_dir`, evolution.proposals_dir),
    step_record_dir: optional(evolution.step_record_dir, (value) => kept(`${section}.step_record_dir`, value)),
  })
  const trainingOf = (section: string, training: ConfigValues['training']): ConfigValues['training'] => ({
    ...training,
    tensorboard_dir: optional(training.tensorboard_dir, (value) => kept(`${section}.tensorboard_dir`, value)),
  })
  const { svc, storage, inference } = settings
  const { agent_record_dir: records, artifact_repository: repository } = storage
  const { model } = inference.engine
  const absolute: ConfigValues = {
    ...settings,
    svc: {
      ...svc,
      tls: svc.tls && { ...svc.tls, certificate: file('svc.tls.certificate', svc.tls.certificate), key: file('svc.tls.key', svc.tls.key) },
    },
    storage: {
      ...storage,
      agent_record_dir: kept('storage.agent_record_dir', records),
      artifact_repository: isRemoteRepository(repository) ? repository : kept('storage.artifact_repository', repository),
    },
    inference: {
      ...inference,
      upstreams: Object.fromEntries(
        Object.entries(inference.upstreams).map(([name, own]) => [
          name,
          { ...own, tls: tlsFiles(`inference.upstreams.${name}.tls`, own.tls, file) },
        ]),
      ),
      engine: {
        ...inference.engine,
        // With the other engines it is a name, which may contain a slash.
        model: inference.runtime === 'llama' ? optional(model, (value) => file('inference.engine.model', value)) : model,
      },
    },
    evolution: evolutionOf('evolution', settings.evolution),
    training: trainingOf('training', settings.training),
    recipes: Object.fromEntries(
      Object.entries(settings.recipes).map(([name, own]) => [
        name,
        {
          ...own,
          evolution: evolutionOf(`recipes.${name}.evolution`, own.evolution),
          training: trainingOf(`recipes.${name}.training`, own.training),
        },
      ]),
    ),
  }
  return { settings: absolute, data }
}

type Tls = ConfigValues['inference']['upstreams'][string]['tls']

function tlsFiles(section: string, tls: Tls, file: (key: string, value: string) => string): Tls {
  const at = (key: 'ca_file' | 'cert_file' | 'key_file'): string | null => optional(tls[key], (value) => file(`${section}.${key}`, value))
  return { ...tls, ca_file: at('ca_file'), cert_file: at('cert_file'), key_file: at('key_file') }
}

const optional = (value: string | null, read: (text: string) => string): string | null => (value === null ? null : read(value))

/** A bare name is looked up on PATH. */
const isProgramPath = (value: string): boolean => value.includes('/')

/** As for plug-ins: anything else is a package name. */
const isModulePath = (value: string): boolean => isAbsolute(value) || /^\.\.?[/\\]/.test(value)

/**
 * Data that an earlier version left in the working directory, where the same path is now relative to the file's folder: the service would
 * ignore it and start empty. Each problem says how to fix it.
 */
export function movedProblems(data: readonly DataPath[], isThere: (path: string) => boolean): readonly string[] {
  // Several recipes may share one path.
  const places = new Map(data.toReversed().map((one) => [one.path, one]))
  return [...places.values()]
    .filter(({ path, inWorking }) => path !== inWorking && !isThere(path) && isThere(inWorking))
    .map(
      ({ key, path, inWorking }) =>
        `${key} starts from the folder of the configuration file, where there is nothing yet, and its data is in the working directory; ` +
        `move ${inWorking} to ${path}, or set ${key} to the path in full`,
    )
}
