/** `npm run build`: compiles the service and the client into their dist folders, unless nothing changed. */
import { prepare, runScript } from './lib.mjs'

runScript(prepare)
