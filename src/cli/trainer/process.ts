/** Runs the trainer as a Python process. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { delimiter, join } from 'node:path'
import type { Environment } from '../../config/index.ts'
import { childEnvironment } from '../../contract/index.ts'

/** The same place from source and from a build: three folders up. */
export const TRAINER_FOLDER = join(import.meta.dirname, '..', '..', '..', 'trainer')

/** Variables for PyTorch's libraries, GPU, models and resources. No keys. */
export const COMPUTING =
  /^(?:PYTHONPATH|PYTHONHOME|VIRTUAL_ENV|CONDA_PREFIX|(?:CUDA|NVIDIA|NCCL|TORCH|PYTORCH|TRITON|OMP|MKL|KMP|OPENBLAS)_\w+|HF_(?:HOME|HUB_CACHE|HUB_OFFLINE|ENDPOINT))$/
const KEY_OPTION = '--api-key-env='

/** The trainer ends with its standard input, so that it never outlives its parent. Of keys it gets only the one named in its options. */
export function spawnTrainer(python: string, args: readonly string[], environment: Environment): ChildProcessWithoutNullStreams {
  const names = args.flatMap((word) => (word.startsWith(KEY_OPTION) ? [word.slice(KEY_OPTION.length)] : []))
  const keys = Object.fromEntries(names.map((name) => [name, environment[name]]))
  const env = { ...trainerEnvironment(environment), ...keys }
  return spawn(python, ['-m', 'svc_trainer', 'serve', '--end-with-stdin', ...args], { env })
}

/** Files in the working folder must not shadow Python's modules, and the package is not written to. */
export function trainerEnvironment(environment: Environment): NodeJS.ProcessEnv {
  const path = [TRAINER_FOLDER, environment['PYTHONPATH'] ?? ''].filter((part) => part !== '').join(delimiter)
  const own = { PYTHONPATH: path, PYTHONSAFEPATH: '1', PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' }
  return { ...childEnvironment(environment, COMPUTING), ...own }
}
