/** The trainer as a process: a Python that runs the package which comes with the service. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { delimiter, join } from 'node:path'
import type { Environment } from '../../config/index.ts'

/** The sources and the compiled code find it at the same place: three folders up from here. */
export const TRAINER_FOLDER = join(import.meta.dirname, '..', '..', '..', 'trainer')

/** It ends when its standard input does, so that it never outlives whoever started it. */
export function spawnTrainer(python: string, args: readonly string[], environment: Environment): ChildProcessWithoutNullStreams {
  return spawn(python, ['-m', 'svc_trainer', 'serve', '--end-with-stdin', ...args], { env: trainerEnvironment(environment) })
}

/** A file in the folder it is started in must not be taken for one of Python's, and a package is not written to. */
export function trainerEnvironment(environment: Environment): NodeJS.ProcessEnv {
  const path = [TRAINER_FOLDER, environment['PYTHONPATH'] ?? ''].filter((part) => part !== '').join(delimiter)
  return { ...environment, PYTHONPATH: path, PYTHONSAFEPATH: '1', PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' }
}
