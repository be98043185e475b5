/** `npm run build`: compiles the service and the client into their dist folders, unless nothing changed; `--types` adds declarations of types. */
import { prepare, prepareToPublish, runScript } from './lib.mjs'

runScript(process.argv.includes('--types') ? prepareToPublish : prepare)
