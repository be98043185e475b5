/**
 * `npm run bench:weights`: tokens per second through the llama runtime beside llama.cpp's own server, and the trainer on one device: its
 * reward curve and speed, and its step beside a plain loop of PEFT. `--part llama` or `--part trainer` runs one of them; `--gguf FILE`
 * takes another model than SmolLM2-135M, `--threads` another number of threads than all cores but one; the other options go to
 * bench/weights/card.py. Exit code 1 where a bound does not hold.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { findPython, trainerEnvironment } from '../src/cli/trainer/python.ts'
import { begin } from '../test/needs/ready.ts'
import { installPackage, installSmallModel, lastLine, PACKAGES } from '../test/weights/real/install.ts'
import { withLlama } from '../test/weights/support/llama.ts'
import { besideServer } from './weights/llama.ts'

const rest = process.argv.slice(2)
const [gguf, part] = [taken('--gguf'), taken('--part')]
const threads = Number(taken('--threads') ?? Math.max(1, availableParallelism() - 1))
for (const [name, run] of Object.entries({ llama, trainer })) if ((part ?? name) === name && !(await run())) process.exitCode = 1
process.stdout.write(`took ${(performance.now() / 1000).toFixed(0)} s\n`)

async function llama(): Promise<boolean> {
  await begin(['llama'])
  withLlama()
  const python = await installed('llamaServer')
  if (python === null) return true
  const model = gguf ?? (await installSmallModel())
  return besideServer(model, python, threads)
}

async function trainer(): Promise<boolean> {
  const script = join(import.meta.dirname, 'weights', 'card.py')
  const python = (await installed('peft')) ?? (await findPython(process.env))
  // On all cores every product of matrices waits for the slowest of them, and beside other work that is many times as long.
  const env = trainerEnvironment({ ...process.env, OMP_NUM_THREADS: String(threads) })
  const child = spawn(python, [script, ...rest], { env, stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  return code === 0
}

async function installed(name: 'llamaServer' | 'peft'): Promise<string | null> {
  const { wanted } = PACKAGES[name]
  process.stdout.write(`${wanted}: installing where it is not there yet …\n`)
  return installPackage(name).catch((error: unknown) => {
    process.stdout.write(`${wanted}: nothing is compared with it, since it could not be installed (${lastLine(error)})\n`)
    return null
  })
}

/** The value of an option of this file, which is none of card.py's. */
function taken(option: string): string | undefined {
  const at = rest.indexOf(option)
  return at === -1 ? undefined : rest.splice(at, 2)[1]
}
