/** `npm run build`: compiles the service and the client into their dist folders, unless nothing changed. */
import { build, install, runScript } from './lib.mjs'

runScript(async () => {
  await install()
  await build()
})
