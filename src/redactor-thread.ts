/** Composes the thread that redacts long payloads. */
import { builtins } from '../plugins/index.ts'
import { loadPlugin } from './config/index.ts'
import { runRedactor } from './recording/index.ts'

runRedactor(async ({ redactor, settings, baseDirectory }) => {
  return (await loadPlugin('redactor', redactor, builtins, baseDirectory)).make(settings)
})
