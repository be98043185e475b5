/** `npm run demo`: from a fresh clone to an agent that gets better while you watch. */
import { pinnedNode, prepare, runForCode, runScript } from './lib.mjs'

runScript(async () => {
  await prepare()
  process.exitCode = await runForCode(pinnedNode(), ['demo/run.ts', ...process.argv.slice(2)])
})
