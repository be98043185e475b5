/**
 * Reflect: plays the current tree on a few hard tasks, has the model study what was lost beside what was won, tries its edits before the gate
 * does, and remembers across steps what was tried, where it helped and what was turned down. Does not decide: that is the selection's.
 */
import { define } from '../../../src/contract/index.ts'
import { reflect } from './reflect.ts'
import { readSettings } from './settings.ts'

export default define('proposer', {
  make(config) {
    const settings = readSettings(config)
    return { acceptsRequests: true, propose: (brief) => reflect(brief, settings) }
  },
})
