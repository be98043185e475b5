/** `npm start`: from a fresh clone to a running service. Arguments after `--` go to `svc serve`. */
import { delimiter, join } from 'node:path'
import { pinnedNode, prepare, ROOT, runForCode, runScript, say } from './lib.mjs'

/** Where `svc` is, by the name that everything here calls it by. */
const COMMANDS = join(ROOT, 'bin')

runScript(async () => {
  await prepare()
  if (!(process.env.PATH ?? '').split(delimiter).includes(COMMANDS))
    say(`svc in another terminal: export PATH='${COMMANDS.replaceAll("'", String.raw`'\''`)}':"$PATH"`)
  process.exitCode = await runForCode(pinnedNode(), ['bin/svc.mjs', 'serve', '--welcome', ...process.argv.slice(2)], { tied: true })
})
