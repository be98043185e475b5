/** Writes a configuration file completely or not at all, and only if it is valid. */
import { link, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ConfigProblem, loadConfig, type Environment, type LoadedConfig } from '../../config/index.ts'
import { newId, writeAtomicFile } from '../../kit/index.ts'

interface WriteOptions {
  /** Whether an existing file may be replaced. */
  readonly force: boolean
  readonly environment: Environment
}

export async function writeChecked(path: string, text: string, { force, environment }: WriteOptions): Promise<LoadedConfig> {
  const beside = join(dirname(path), `.${basename(path)}.${newId()}`)
  try {
    await writeAtomicFile(beside, text)
    const loaded = await load(beside, path, environment)
    // Linking never replaces a file that was created meanwhile.
    await (force ? rename(beside, path) : link(beside, path))
    return loaded
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'EEXIST' && 'syscall' in error && error.syscall === 'link') throw isThereProblem(path)
    throw new ConfigProblem([`${path} cannot be written (${String(error.code)}); choose another place with -o FILE`])
  } finally {
    // A leftover does no harm, and the error is already being reported.
    await rm(beside, { force: true }).catch(() => undefined)
  }
}

export const isThereProblem = (path: string): ConfigProblem =>
  new ConfigProblem([`${path} is there already; choose another name with -o FILE, or replace it with --force`])

/** Problems are reported under the final name of the file. */
async function load(beside: string, path: string, environment: Environment): Promise<LoadedConfig> {
  try {
    return await loadConfig({ file: beside, environment })
  } catch (error) {
    if (!(error instanceof ConfigProblem)) throw error
    throw new ConfigProblem(error.problems.map((problem) => `${problem.replace(beside, () => path)} (nothing is written)`))
  }
}
