/** Installs the llama runtime: its library, and the one binary that this machine needs. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
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
const CHECK_OPTIONS = { build: 'never', gpu: false, skipDownload: true, logLevel: 'error' }

export async function installLlama(folder: string, environment: NodeJS.ProcessEnv, there: 'keep' | 'replace' = 'keep'): Promise<void> {
  const lock = readFileSync(LOCK, 'utf8')
  const beside = [binaryFor(lock, process.platform, process.arch)]
  const check = (made: string): Promise<void> => checkBinary(made, environment)
  await installLocked({ part: 'runtime', ...LLAMA_PACKAGE, lock, beside, check }, folder, environment, there)
}

/** The CPU binary: those for GPUs are ten times as large. The library pins the exact version of each. */
export function binaryFor(lock: string, platform: string, architecture: string): string {
  const { packages } = lockSchema.parse(JSON.parse(lock))
  const versions = packages[`node_modules/${LLAMA_PACKAGE.name}`]?.optionalDependencies ?? {}
  const name = `@node-llama-cpp/${SYSTEMS[platform] ?? platform}-${PROCESSORS[architecture] ?? architecture}`
  const found = [name, `${name}-metal`].find((one) => versions[one] !== undefined)
  if (found === undefined)
    throw unsupported('no_binary', `there is no llama runtime for ${platform} on ${architecture}; use sglang or vllm instead`)
  return `${found}@${versions[found]}`
}

/** In a process of its own: an incompatible binary may crash the process that loads it. */
async function checkBinary(folder: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const program = join(folder, 'try.mjs')
  await writeFile(
    program,
    `import { getLlama } from '${LLAMA_PACKAGE.name}'\nawait getLlama(${JSON.stringify(CHECK_OPTIONS)})\nprocess.exit()\n`,
  )
  await run(process.execPath, [program], { env: childEnvironment(environment) }).catch((error: unknown) => {
    throw unavailable('not_usable', 'the runtime was installed, but its binary does not run on this machine; use sglang or vllm instead', {
      cause: error,
    })
  })
}
