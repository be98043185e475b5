/** `svc trainer start`: runs the trainer that comes with the service, on a Python with PyTorch. */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Option, type Command } from 'commander'
import { STATE_DIRECTORY } from '../contract/index.ts'
import { printError } from './explain.ts'
import { EXIT, type BindCommand, type Surroundings } from './surroundings.ts'
import { spawnTrainer, findPython, installTorch } from './trainer/python.ts'
import { mkdirp } from '../kit/index.ts'

interface StartOptions {
  readonly host: string
  readonly port: string
  readonly state: string
  readonly model: readonly string[]
  readonly device: string
  readonly dtype: string
  readonly threads?: string
  readonly apiKeyEnv?: string
  readonly python?: string
  readonly install?: boolean
}

const EXAMPLE = '\nExample:\n  svc trainer start --model tiny=./tiny-model'
const PORT = '8600'

export function addTrainerCommands(program: Command, run: BindCommand): void {
  const trainer = program.command('trainer').description('train adapters on this machine')
  trainer.addHelpText('after', EXAMPLE)
  run<StartOptions>(trainer.command('start').description('start the trainer; it needs a Python with PyTorch'), start)
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0 takes any free one', PORT)
    .option('--state <folder>', 'where saved weights are kept', `${STATE_DIRECTORY}/trainer`)
    .option('--model <name=folder>', 'a base model in the Hugging Face layout; may be given several times', collect, [])
    .addOption(new Option('--device <device>', 'the device to train on').choices(['cpu', 'cuda', 'auto']).default('auto'))
    .addOption(new Option('--dtype <type>', 'the type of the base weights').choices(['fp32', 'bf16']).default('fp32'))
    .option('--threads <count>', 'the number of CPU threads (default: all)')
    .option('--api-key-env <variable>', 'the variable that holds the key callers must send')
    .option('--python <path>', 'the Python to use (SVC_PYTHON; else one with PyTorch is searched for)')
    .option('--install', 'create a virtual environment with PyTorch for this user, if none is found')
    .addHelpText('after', EXAMPLE)
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

async function start(options: StartOptions, surroundings: Surroundings): Promise<number> {
  try {
    const python = await pythonFor(options, surroundings)
    await mkdirp(options.state)
    return await runTrainer(python, argumentsOf(options), surroundings)
  } catch (error) {
    printError(error, null, surroundings)
    return EXIT.misconfigured
  }
}

async function pythonFor({ python, install }: StartOptions, surroundings: Surroundings): Promise<string> {
  try {
    return await findPython(surroundings.environment, python)
  } catch (error) {
    if (install !== true || python !== undefined) throw error
    surroundings.err('installing PyTorch, some 200 MB; this takes minutes')
    return installTorch(surroundings.environment)
  }
}

function argumentsOf({ host, port, state, model, device, dtype, threads, apiKeyEnv }: StartOptions): readonly string[] {
  const given = { host, port, state, device, dtype, threads, 'api-key-env': apiKeyEnv }
  const words = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]))
  return [...words, ...model.map((one) => `--model=${one}`)]
}

/** Lives as long as the trainer, and passes signals on to it. */
async function runTrainer(python: string, args: readonly string[], surroundings: Surroundings): Promise<number> {
  const child = spawnTrainer(python, args, surroundings.environment)
  surroundings.onStop((signal) => void child.kill(signal))
  createInterface({ input: child.stdout }).on('line', surroundings.out)
  createInterface({ input: child.stderr }).on('line', surroundings.err)
  const [code]: unknown[] = await once(child, 'close')
  return typeof code === 'number' ? code : EXIT.failed
}
