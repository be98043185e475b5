/**
 * `npm run test:needs`: installs and makes everything that any test needs of the machine; `test:needs:short` what the short form needs.
 * The tests do it too, each for itself, when they start.
 */
import { IS_SHORT } from '../support/short.ts'
import { NAMES, type NeedName } from './list.ts'
import { begin, getReady } from './ready.ts'

/** Made with Go. Without them the short form goes on. */
const MADE: readonly NeedName[] = ['versitygw', 'collector']
/** Its tests are part of the long form alone. */
const LONG_FORM: readonly NeedName[] = IS_SHORT ? ['collector'] : []

await begin(NAMES.filter((name) => !MADE.includes(name)))
await getReady(MADE.filter((name) => !LONG_FORM.includes(name)))
