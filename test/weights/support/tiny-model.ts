/** The practice model for tests: made once, and kept until what it is made by changes. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ENV } from '../../../src/contract/index.ts'
import { pythonWithTorch } from './torch.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** The folder, with the weights as PyTorch reads them and as llama.cpp does. The first time it takes half a minute, and PyTorch must be there. Options are those of `make:tiny-model`. */
export async function tinyModel(...options: readonly string[]): Promise<string> {
  const env = { ...process.env, [ENV.python]: await pythonWithTorch() }
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/make-tiny-model.mjs'), ...options], { env })
  return stdout.trim()
}
