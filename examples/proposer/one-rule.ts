/** The smallest proposer: makes a rule of a person's request, or else of the first feedback that is a sentence. */
import { hash } from 'node:crypto'
import { define, type Brief } from '../../src/contract/index.ts'

const ID_CHARACTERS = 12

export default define('proposer', {
  acceptsRequests: true,

  async propose({ entries, samples, request, report }) {
    const text = ruleIn({ samples, request })
    if (text === null) return null
    // The id is a hash of the text, so that a rule is not added twice.
    const id = `rule-${hash('sha256', text).slice(0, ID_CHARACTERS)}`
    if (entries.some((entry) => entry.id === id)) return null
    report.line('proposer', `a rule more: ${text}`)
    return { mutations: [{ op: 'create', id, options: { name: 'rules', config: { text } } }] }
  },
})

function ruleIn({ samples, request }: Pick<Brief, 'samples' | 'request'>): string | null {
  if (request !== null) return request.text
  return samples.map(({ feedback }) => feedback).find((feedback) => typeof feedback === 'string') ?? null
}
