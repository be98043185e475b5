/** The smallest examiner: a candidate must still return a greeting. */
import { define } from '../../src/contract/index.ts'

export default define('examiner', {
  async examine(candidate) {
    const question = { messages: [{ role: 'user', content: 'Good morning!' }], temperature: 0, max_tokens: 64 }
    const answer = await candidate.try((tryout) => tryout.chat(question))
    const isPolite = /good morning|hello|welcome/i.test(JSON.stringify(answer))
    return { select: isPolite, metrics: { polite: isPolite } }
  },
})
