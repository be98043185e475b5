/**
 * Reflect: plays the current tree on a few hard tasks, shows the model failing and passing runs, tries its edits before the gate does, and
 * remembers across steps what was tried, where it helped and what was rejected. Does not decide: the selection does.
 */
import { define } from '../../../src/contract/index.ts'
import { reflect, readSettings } from './reflect.ts'

export default define('proposer', {
  make(config) {
    const settings = readSettings(config)
    return { acceptsRequests: true, propose: (brief) => reflect(brief, settings) }
  },
})
