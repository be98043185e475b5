/** PEFT beside the PyTorch of the tests. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { demand } from '../needs/missing.ts'
import { installUv, UV } from '../weights/real/install.ts'
import { pythonWithTorch } from '../weights/support/torch.ts'

/** The newest that go with Debian's PyTorch, and with every one since. */
const WANTED = ['peft==0.14.0', 'transformers==4.47.1']
/** PyTorch is there already, and an old one knows no newer NumPy. */
const OVERRIDES = ["torch; sys_platform == 'none'", "numpy<2; python_version < '3.12'", "numpy; python_version >= '3.12'"]
const CACHE = join(import.meta.dirname, '../../node_modules/.cache/svc-peft')
const FOLDER = join(CACHE, WANTED.join('-'))
const WHOLE = join(FOLDER, 'whole')

export const isPeftThere = (): boolean => existsSync(WHOLE)

/** For the Python that has PyTorch, and apart from it: nothing of the machine is changed. */
export async function installPeft(): Promise<void> {
  const python = await pythonWithTorch()
  await installUv()
  rmSync(CACHE, { recursive: true, force: true })
  mkdirSync(CACHE, { recursive: true })
  const overrides = join(CACHE, 'overrides.txt')
  writeFileSync(overrides, OVERRIDES.join('\n'))
  await promisify(execFile)(UV, ['pip', 'install', '--quiet', '--python', python, '--target', FOLDER, '--overrides', overrides, ...WANTED])
  writeFileSync(WHOLE, '')
}

/** What PYTHONPATH names. */
export function peftFolder(): string {
  demand('peft')
  return FOLDER
}
