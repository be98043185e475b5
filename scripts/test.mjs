/**
 * `npm test`: from a fresh clone to a test run. Arguments after `--` go to vitest. Without a file, a project or a configuration among them it
 * runs the tests that need nothing of the machine beside Node, npm and git.
 */
import { join } from 'node:path'
import { pinnedNode, prepare, ROOT, runForCode, runScript } from './lib.mjs'

const args = process.argv.slice(2)
const isChosen = args.some((arg) => !arg.startsWith('-') || /^--(project|config)\b/.test(arg))
const usual = isChosen ? [] : ['--project', 'pure', '--project', 'service']

runScript(async () => {
  await prepare()
  // Hundreds of services are started from the same sources: each after the first finds them compiled.
  process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules', '.cache', 'compiled')
  process.exitCode = await runForCode(pinnedNode(), ['node_modules/vitest/vitest.mjs', 'run', ...usual, ...args])
})
