/**
 * Evidence: selects what is shown to be better by sequential e-value tests, keeps false publications within alpha over a scenario's life, and
 * stops early either way. Scores count from 0 to 1. Does not play, score or store anything. docs/decisions/0016-evidence.md has the reasons.
 */
import { define } from '../../../src/contract/index.ts'
import { examine } from './examine.ts'
import { readSettings } from './settings.ts'

export default define('selection', {
  make(config) {
    const settings = readSettings(config)
    return {
      next: (question) => examine(question.pairs, question, settings).draws,
      decide: (pairs, question) => examine(pairs, question, settings).decide(),
    }
  },
})
