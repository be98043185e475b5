/** Imported first, in a thread or a process: modules that were built are loaded as built, whoever imports their sources. */
import { registerHooks } from 'node:module'
import { builtOf } from './built.ts'

registerHooks({
  resolve(name, context, next) {
    const found = next(name, context)
    const url = builtOf(found.url)
    return url === null ? found : { ...found, url, format: 'module' }
  },
})
