/** What `--welcome` adds to a configuration that nobody wrote: the recipe of a scenario that improves while somebody watches. */
import { fileURLToPath } from 'node:url'
import { ConfigProblem, loadConfig, type Environment, type LoadedConfig } from '../../config/index.ts'
import type { ConfigOptions } from '../surroundings.ts'

const FILE = fileURLToPath(new URL('./svc.yaml', import.meta.url))

/** Null where another model answers, which would cost somebody something, and where somebody configured recipes of their own. */
export async function withPractice(
  plain: LoadedConfig,
  { config, commandLine }: ConfigOptions,
  environment: Environment,
): Promise<LoadedConfig | null> {
  if (config !== undefined || plain.upstream.runtime !== 'practice') return null
  try {
    // Data and plug-ins are where the person is, not where this file lies.
    const { baseDirectory } = plain
    return await loadConfig({ file: FILE, baseDirectory, commandLine, environment, probe: () => Promise.resolve(null) })
  } catch (error) {
    // What was right by itself does not go with these recipes: a single recipe's sections stand on the command line.
    if (error instanceof ConfigProblem) return null
    throw error
  }
}
