/** Finds or creates a Python with PyTorch, and runs the trainer on it. */
import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { childEnvironment, ENV, STATE_DIRECTORY, unavailable } from '../../contract/index.ts'
import type { Environment } from '../../config/index.ts'
import { mkdirp } from '../../kit/index.ts'

const run = promisify(execFile)

/** Importing is the test: a half-installed package is found but does not load. */
const IMPORT_CHECK = 'import sys, torch; sys.exit(0 if sys.version_info >= (3, 9) else 3)'
/** The variables that pip reads, but for those that would have it install something else, or elsewhere than into the environment that is made. */
const PIP_SETTINGS =
  /^(?:PIP_(?!(?:TARGET|PREFIX|ROOT|USER|PYTHON|PLATFORM|SRC|REQUIREMENTS?|EDITABLE|CONSTRAINTS?|DRY_RUN|HELP|VERSION|LOG|REPORT)$)[A-Z_]+|NETRC|XDG_CONFIG_DIRS)$/
/** In what `pip config list` prints, files and variables alike. */
const OWN_INDEX = /^[\w:-]+\.(?:index-url|no-index|find-links)=/m
/** Without GPU libraries, which are twenty times as large. */
const TORCH_INDEX = 'https://download.pytorch.org/whl/cpu'
const OUTPUT_BYTES_MAX = 2 ** 24

/** A named Python is used or refused; no other is searched for. */
export async function findPython(environment: Environment, named?: string): Promise<string> {
  const wanted = named ?? textOf(environment[ENV.python])
  if (wanted !== undefined) {
    if (await hasTorch(wanted, environment)) return wanted
    throw unavailable('no_torch', `the Python named by --python or ${ENV.python} does not import torch; name another, or leave it out`)
  }
  for (const python of [venvPython(environment), 'python3', '/usr/bin/python3']) if (await hasTorch(python, environment)) return python
  throw unavailable(
    'no_torch',
    'the trainer needs a Python of 3.9 or newer with PyTorch, and none was found; ' +
      'install it with `apt-get install python3-torch`, or let `svc trainer start --install` do it for you',
  )
}

const textOf = (value: string | undefined): string | undefined => (value === '' ? undefined : value)

const hasTorch = (python: string, environment: Environment): Promise<boolean> =>
  run(python, ['-c', IMPORT_CHECK], { env: pythonEnvironment(environment) }).then(
    () => true,
    () => false,
  )

/** Runs nothing that lies in the working folder. */
const pythonEnvironment = (environment: Environment): NodeJS.ProcessEnv => ({
  ...childEnvironment(environment, COMPUTING, PIP_SETTINGS),
  PYTHONSAFEPATH: '1',
})

const venvFolder = (environment: Environment): string => join(textOf(environment['HOME']) ?? homedir(), STATE_DIRECTORY, 'trainer', 'venv')
const venvPython = (environment: Environment): string => join(venvFolder(environment), 'bin', 'python3')

/** Into a new virtual environment: an unfinished one is of no use. */
export async function installTorch(environment: Environment): Promise<string> {
  const folder = venvFolder(environment)
  const python = venvPython(environment)
  const options = { env: pythonEnvironment(environment), maxBuffer: OUTPUT_BYTES_MAX }
  await mkdirp(dirname(folder))
  try {
    await run('python3', ['-m', 'venv', '--clear', folder], options)
    const { stdout: configured } = await run(python, ['-m', 'pip', 'config', 'list'], options)
    const index = process.platform === 'linux' && !OWN_INDEX.test(configured) ? ['--index-url', TORCH_INDEX] : []
    await run(python, ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-user', ...index, 'torch'], options)
  } catch (error) {
    const cure = 'check the network and that python3 has venv, and run the same command again'
    throw unavailable('not_installed', `PyTorch could not be installed (${lastLineOf(error)}); ${cure}`, { cause: error })
  }
  if (await hasTorch(python, environment)) return python
  throw unavailable(
    'not_installed',
    'PyTorch was installed and cannot be imported; take target, prefix and root out of the configuration of pip, and run the same command again',
  )
}

function lastLineOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' ? error.stderr : ''
  return said.trimEnd().split('\n').at(-1) || 'it said nothing'
}

/** The same place from source and from a build: three folders up. */
export const TRAINER_FOLDER = join(import.meta.dirname, '..', '..', '..', 'trainer')

/** Variables for PyTorch's libraries, GPU, models and resources. No keys. */
const COMPUTING =
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
