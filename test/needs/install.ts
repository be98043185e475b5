/** `npm run test:needs`: installs and makes everything that any test needs of the machine. The tests do it too, each for itself, when they start. */
import { NAMES } from './list.ts'
import { begin, getReady } from './ready.ts'

/** Made with Go. Without them the short form goes on. */
const MADE = ['versitygw', 'collector'] as const

await begin(NAMES.filter((name) => !MADE.some((made) => made === name)))
await getReady(MADE)
