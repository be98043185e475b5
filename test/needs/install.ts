/** `npm run test:needs`: installs and makes everything that any test needs of the machine. The tests do it too, each for itself, when they start. */
import { NAMES } from './list.ts'
import { begin } from './ready.ts'

await begin(NAMES)
