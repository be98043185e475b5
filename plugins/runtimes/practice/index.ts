/**
 * Practice: the runtime of a deployment that has no upstream yet. Answers depend on the rules, skills and tools in the prompt, so that
 * a better harness gets better answers. Does not call anything outside the process.
 */
import { define } from '../../../src/contract/index.ts'
import { makePractice, readSettings } from './runtime.ts'

export default define('runtime', { make: (config) => makePractice(readSettings(config), () => Date.now() / 1000) })
