/** `npm start`: from a fresh clone to a running service. Arguments after `--` go to `svc serve`. */
import { build, install, pinnedNode, runForCode, runScript } from './lib.mjs'

runScript(async () => {
  await install()
  await build()
  process.exitCode = await runForCode(pinnedNode(), ['bin/svc.mjs', 'serve', ...process.argv.slice(2)])
})
