/** The tiny model for tests: made once, and again when its sources change. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ENV } from '../../../src/contract/index.ts'
import { demand } from '../../needs/missing.ts'
import { pythonWithTorch } from './torch.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** The folder, with weights for PyTorch and llama.cpp. Options of `make:tiny-model` give another model. */
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
