/** A stored exchange as a request to ask once more. */
import { describe, expect, it } from 'vitest'
import { replayOf } from './replay.ts'

const RULES = '# The shop\nAnswer in one line, as the shop does.'
const NEW_RULES = '# The shop\nAnswer in two lines ($& stays).'
const payload = {
  model: 'm',
  stream: true,
  stream_options: { include_usage: true },
  metadata: { mine: 'yes', tags: { session: 's' } },
  messages: [
    { role: 'system', content: `You are an agent.\n\n${RULES}\n\nToday is Monday.` },
    { role: 'user', content: [{ type: 'text', text: 'Hello?' }] },
  ],
  response: { object: 'chat.completion', choices: [{ message: { role: 'assistant', content: 'Hi.' } }] },
}

describe('a stored exchange', () => {
  it('is asked as it was, whole and without what the service added, of the same model or another', () => {
    const same = replayOf(payload, 'm', {})
    expect(same).toMatchObject({ path: '/v1/chat/completions', model: 'm', answer: payload.response })
    expect(same?.body).toEqual({ model: 'm', metadata: { mine: 'yes' }, messages: payload.messages })
    expect(replayOf(payload, 'm', { model: 'other' })).toMatchObject({ model: 'other', storedModel: 'm', body: { model: 'other' } })
  })

  it('is asked with the texts of another release where those of its own stand in it', () => {
    const before = { 'AGENTS.md': `${RULES}\n`, 'skills/a.md': 'A skill that no request holds.', 'same.md': 'It is the same in both.' }
    const after = { 'AGENTS.md': NEW_RULES, 'same.md': 'It is the same in both.', 'new.md': 'Something new in it.' }
    const replay = replayOf(payload, 'm', { texts: { before, after } })
    expect(replay?.texts).toEqual({ replaced: ['AGENTS.md'], absent: ['skills/a.md', 'new.md'] })
    expect(replay?.body['messages']).toMatchObject([{ content: `You are an agent.\n\n${NEW_RULES}\n\nToday is Monday.` }, {}])
  })

  it('keeps a text apart from one that holds it, and leaves short ones alone', () => {
    const before = { 'whole.md': RULES, 'part.md': 'Answer in one line, as the shop does.', 'short.md': 'agent' }
    const after = { 'whole.md': 'Whole.', 'part.md': 'Part.', 'short.md': 'robot' }
    const replay = replayOf(payload, 'm', { texts: { before, after } })
    expect(replay?.texts).toEqual({ replaced: ['whole.md'], absent: ['part.md', 'short.md'] })
  })

  it('is none where nothing was asked or answered', () => {
    for (const other of [{}, { score: 1, references: ['a'] }, { ...payload, response: null }]) expect(replayOf(other, 'm', {})).toBeNull()
  })
})
