/** Installs the llama runtime: its library, and the binaries that this machine needs. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'
import { childEnvironment, LLAMA_PACKAGE, unavailable, unsupported } from '../contract/index.ts'
import { installLocked } from './package-install.ts'

const run = promisify(execFile)

const LOCK = new URL('../../plugins/runtimes/llama/package-lock.json', import.meta.url)
const lockSchema = z.object({
  packages: z.record(z.string(), z.looseObject({ optionalDependencies: z.record(z.string(), z.string()).optional() })),
})

/** The library's own names of platforms. */
const SYSTEMS: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'mac', win32: 'win' }
const PROCESSORS: Readonly<Record<string, string>> = { arm: 'armv7l' }
const CHECK_OPTIONS = { build: 'never', skipDownload: true, logLevel: 'error' }

/** Which card a program may use. */
const CARDS = /^CUDA_\w+$/

/** The kinds of graphics cards with a binary of their own. On a Mac the usual one uses the card. */
export const GPUS = ['cuda', 'vulkan'] as const
export type Gpu = (typeof GPUS)[number]

export async function installLlama(
  folder: string,
  environment: NodeJS.ProcessEnv,
  there: 'keep' | 'replace' = 'keep',
  gpu: Gpu | null = null,
): Promise<void> {
  const lock = readFileSync(LOCK, 'utf8')
  const { platform, arch } = process
  const beside = [binaryFor(lock, platform, arch), ...(gpu === null ? [] : gpuBinariesFor(lock, platform, arch, gpu))]
  const check = (made: string): Promise<void> => checkBinaries(made, environment, gpu)
  await installLocked({ part: 'runtime', ...LLAMA_PACKAGE, lock, beside, check }, folder, environment, there)
}

/** Whether the binary for such a card was installed beside the usual one. */
export const hasGpu = (folder: string, gpu: Gpu): boolean =>
  existsSync(join(folder, 'node_modules', `${platformName(process.platform, process.arch)}-${gpu}`))

/** The CPU binary: those for GPUs are ten times as large. The library pins the exact version of each. */
export function binaryFor(lock: string, platform: string, architecture: string): string {
  const name = platformName(platform, architecture)
  const found = pinnedOf(lock, [name, `${name}-metal`])
  if (found === null)
    throw unsupported('no_binary', `there is no llama runtime for ${platform} on ${architecture}; use sglang or vllm instead`)
  return found
}

/** With what the library loads instead on older cards and with older drivers, where there is such a thing. */
export function gpuBinariesFor(lock: string, platform: string, architecture: string, gpu: Gpu): readonly string[] {
  const name = `${platformName(platform, architecture)}-${gpu}`
  const found = [name, `${name}-ext`].flatMap((one) => pinnedOf(lock, [one]) ?? [])
  if (found.length === 0)
    throw unsupported(
      'no_gpu_binary',
      `there is no llama runtime with ${gpu} for ${platform} on ${architecture}; leave --gpu out, or use sglang or vllm`,
    )
  return found
}

const platformName = (platform: string, architecture: string): string =>
  `@node-llama-cpp/${SYSTEMS[platform] ?? platform}-${PROCESSORS[architecture] ?? architecture}`

function pinnedOf(lock: string, names: readonly string[]): string | null {
  const { packages } = lockSchema.parse(JSON.parse(lock))
  const versions = packages[`node_modules/${LLAMA_PACKAGE.name}`]?.optionalDependencies ?? {}
  const found = names.find((one) => versions[one] !== undefined)
  return found === undefined ? null : `${found}@${versions[found]}`
}

/** In a process of its own: an incompatible binary may crash the process that loads it. */
async function checkBinaries(folder: string, environment: NodeJS.ProcessEnv, gpu: Gpu | null): Promise<void> {
  await checkBinary(folder, environment, false).catch((error: unknown) => {
    throw unavailable('not_usable', 'the runtime was installed, but its binary does not run on this machine; use sglang or vllm instead', {
      cause: error,
    })
  })
  if (gpu === null) return
  await checkBinary(folder, environment, gpu).catch((error: unknown) => {
    throw unavailable(
      'gpu_not_usable',
      `the binary for ${gpu} does not run on this machine; install the driver and the libraries of ${gpu}, or leave --gpu out`,
      { cause: error },
    )
  })
}

async function checkBinary(folder: string, environment: NodeJS.ProcessEnv, gpu: Gpu | false): Promise<void> {
  const program = join(folder, 'try.mjs')
  const options = JSON.stringify({ ...CHECK_OPTIONS, gpu })
  await writeFile(program, `import { getLlama } from '${LLAMA_PACKAGE.name}'\nawait getLlama(${options})\nprocess.exit()\n`)
  await run(process.execPath, [program], { env: childEnvironment(environment, CARDS) })
}
