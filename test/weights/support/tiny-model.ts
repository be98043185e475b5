/** The practice model for tests: made once before them, and kept until what it is made by changes. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ENV } from '../../../src/contract/index.ts'
import { demand } from '../../needs/missing.ts'
import { pythonWithTorch } from './torch.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** The folder, with the weights as PyTorch reads them and as llama.cpp does. Options are those of `make:tiny-model`: another model is made here. */
export function tinyModel(...options: readonly string[]): Promise<string> {
  demand('tiny model')
  return makeTinyModel(...options)
}

/** Found, or made in half a minute; then it says so on standard error. */
export async function makeTinyModel(...options: readonly string[]): Promise<string> {
  const env = { ...process.env, [ENV.python]: await pythonWithTorch() }
  const { promise, resolve } = Promise.withResolvers<number | null>()
  const child = spawn(process.execPath, [join(ROOT, 'scripts/make-tiny-model.mjs'), ...options], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.once('close', resolve)
  const folder = await text(child.stdout)
  if ((await promise) !== 0) throw new Error('the tiny model could not be made')
  return folder.trim()
}
