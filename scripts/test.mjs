/** `npm test`: from a fresh clone to a test run. Some tests start the built service. Arguments after `--` go to vitest. */
import { join } from 'node:path'
import { pinnedNode, prepare, ROOT, runForCode, runScript } from './lib.mjs'

runScript(async () => {
  await prepare()
  // Hundreds of services are started from the same sources: each after the first finds them compiled.
  process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules', '.cache', 'compiled')
  process.exitCode = await runForCode(pinnedNode(), ['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)])
})
