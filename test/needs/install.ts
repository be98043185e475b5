/** `npm run test:needs`: installs and makes everything that any test needs of the machine. The tests do it too, each for itself, when they start. */
import { NAMES } from './list.ts'
import { begin, getReady } from './ready.ts'

await begin(NAMES.filter((name) => name !== 'versitygw'))
// Without it the short form goes on.
await getReady(['versitygw'])
