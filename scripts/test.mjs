/** `npm test`: from a fresh clone to a test run. Some tests start the built service. Arguments after `--` go to vitest. */
import { build, install, pinnedNode, runForCode, runScript } from './lib.mjs'

runScript(async () => {
  await install()
  await build()
  process.exitCode = await runForCode(pinnedNode(), ['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)])
})
