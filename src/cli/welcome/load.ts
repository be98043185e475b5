/** Adds the demo recipe to a start without a configuration file. */
import { fileURLToPath } from 'node:url'
import { ConfigProblem, loadConfig, type Environment, type LoadedConfig } from '../../config/index.ts'
import type { ConfigOptions } from '../surroundings.ts'

const FILE = fileURLToPath(new URL('./svc.yaml', import.meta.url))

/** Null where a real model would answer, which may cost money, and where recipes are configured. */
export async function withPractice(
  plain: LoadedConfig,
  { config, commandLine }: ConfigOptions,
  environment: Environment,
): Promise<LoadedConfig | null> {
  if (config !== undefined || plain.upstream.runtime !== 'practice') return null
  try {
    // Data and plug-ins are in the user's folder, not in this file's.
    const { baseDirectory } = plain
    return await loadConfig({ file: FILE, baseDirectory, commandLine, environment, probe: () => Promise.resolve(null) })
  } catch (error) {
    // Recipe sections on the command line do not go with these recipes.
    if (error instanceof ConfigProblem) return null
    throw error
  }
}
