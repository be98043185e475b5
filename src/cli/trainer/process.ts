/** The trainer as a process: a Python that runs the package which comes with the service. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { delimiter, join } from 'node:path'
import type { Environment } from '../../config/index.ts'
import { childEnvironment } from '../../contract/index.ts'

/** The sources and the compiled code find it at the same place: three folders up from here. */
export const TRAINER_FOLDER = join(import.meta.dirname, '..', '..', '..', 'trainer')

/** How PyTorch finds its libraries, the graphics card and models, and how much of the machine it takes. No keys. */
export const COMPUTING =
  /^(?:PYTHONPATH|PYTHONHOME|VIRTUAL_ENV|CONDA_PREFIX|(?:CUDA|NVIDIA|NCCL|TORCH|PYTORCH|TRITON|OMP|MKL|KMP|OPENBLAS)_\w+|HF_(?:HOME|HUB_CACHE|HUB_OFFLINE|ENDPOINT))$/
const KEY_OPTION = '--api-key-env='

/** It ends when its standard input does, so that it never outlives whoever started it. Of keys it gets the one it is told to ask for. */
export function spawnTrainer(python: string, args: readonly string[], environment: Environment): ChildProcessWithoutNullStreams {
  const names = args.flatMap((word) => (word.startsWith(KEY_OPTION) ? [word.slice(KEY_OPTION.length)] : []))
  const keys = Object.fromEntries(names.map((name) => [name, environment[name]]))
  const env = { ...trainerEnvironment(environment), ...keys }
  return spawn(python, ['-m', 'svc_trainer', 'serve', '--end-with-stdin', ...args], { env })
}

/** A file in the folder it is started in must not be taken for one of Python's, and a package is not written to. */
export function trainerEnvironment(environment: Environment): NodeJS.ProcessEnv {
  const path = [TRAINER_FOLDER, environment['PYTHONPATH'] ?? ''].filter((part) => part !== '').join(delimiter)
  const own = { PYTHONPATH: path, PYTHONSAFEPATH: '1', PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' }
  return { ...childEnvironment(environment, COMPUTING), ...own }
}
