/** `npm start`: from a fresh clone to a running service. Arguments after `--` go to `svc serve`. */
import { pinnedNode, prepare, runForCode, runScript } from './lib.mjs'

runScript(async () => {
  await prepare()
  process.exitCode = await runForCode(pinnedNode(), ['bin/svc.mjs', 'serve', '--welcome', ...process.argv.slice(2)], { tied: true })
})
