/** `npm run test:engines`: the whole loop on real vLLM and real SGLang, where they can be installed, and on the test servers of their routes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { begin } from '../../needs/ready.ts'
import { makeTinyModel } from '../support/tiny-model.ts'
import { installPackage, lastLine, PACKAGES, type RealEngine } from './install.ts'
import { MODEL, tryEngine } from './servers.ts'

const ROOT = join(import.meta.dirname, '../../..')
const names: readonly RealEngine[] = ['vllm', 'sglang']
const asked = names.filter((name) => process.argv.length === 2 || process.argv.includes(name))

await begin(['torch', 'llama', 'tiny model'])
const found: Record<string, string> = {}
for (const name of asked) {
  say(`${PACKAGES[name].wanted}: installing where it is not there yet, and asking it for a token …`)
  try {
    const python = await installPackage(name)
    await tryEngine(name, python, await makeTinyModel(...MODEL))
    found[name] = python
  } catch (error) {
    say(`${PACKAGES[name].wanted}: not run, since it does not serve on this machine (${lastLine(error)})`)
  }
}
const env = { ...process.env, REAL_ENGINES: JSON.stringify(found) }
const args = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=verbose', '--project', 'machine', 'test/weights/real']
const [code] = await once(spawn(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' }), 'exit')
process.exitCode = typeof code === 'number' ? code : 1

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
