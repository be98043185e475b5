/** `npm run demo`: from a fresh clone to an agent that gets better while you watch. */
import { build, install, pinnedNode, runForCode, runScript } from './lib.mjs'

runScript(async () => {
  await install()
  await build()
  process.exitCode = await runForCode(pinnedNode(), ['demo/run.ts', ...process.argv.slice(2)])
})
