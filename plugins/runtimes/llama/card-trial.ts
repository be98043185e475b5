/**
 * Computes one token on the graphics card before the model is served from it. A binary whose kernels do not run on this card or with this
 * driver ends the process that calls them, so they are tried in a process of their own.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { childEnvironment, LLAMA_PACKAGE, runtimeFolder, unavailable, type Refusal } from '../../../src/contract/index.ts'

const run = promisify(execFile)

/** Which card a program may use. */
const CARDS = /^CUDA_\w+$/
const CONTEXT_TOKENS = 256
/** A large model is read from the disk, and kernels may be compiled for the card. */
const TIMEOUT_MS = 600_000

const PROGRAM = `
const [library, modelPath] = process.argv.slice(2)
const { getLlama } = await import(library)
const llama = await getLlama({ build: 'never', gpu: 'auto', skipDownload: true, logLevel: 'error' })
const model = await llama.loadModel({ modelPath })
const context = await model.createContext({ contextSize: ${CONTEXT_TOKENS}, failedCreationRemedy: false })
await context.getSequence().controlledEvaluate([[model.tokens.bos ?? 0, { generateNext: { probabilities: true } }]])
process.exit()
`

/** Throws Refusal where the card cannot compute with this model. */
export async function tryCard(model: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-card-'))
  try {
    // A file, since the library starts a process of its own in the way this one was started.
    const program = join(folder, 'try.mjs')
    await writeFile(program, PROGRAM)
    const library = join(runtimeFolder('llama', process.env), 'node_modules', LLAMA_PACKAGE.name, 'dist/index.js')
    const options = { env: childEnvironment(process.env, CARDS), timeout: TIMEOUT_MS }
    await run(process.execPath, [program, pathToFileURL(library).href, model], options).catch((error: unknown) => {
      throw notUsable(error)
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const notUsable = (cause: unknown): Refusal =>
  unavailable(
    'card_not_usable',
    'the graphics card cannot compute with this model (its driver may be older than the binary, or its memory too small); ' +
      'set inference.engine.gpu: off, or update the driver',
    { cause },
  )
