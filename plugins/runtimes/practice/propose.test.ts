import { describe, expect, it } from 'vitest'
import { objectOf, objectsOf, parsed, textOf } from '../../../src/dialects/index.ts'
import { HARMS, FIXES } from './lessons.ts'
import { lessonsIn } from './rules.ts'
import { PRACTICE_TASKS } from './tasks.ts'
import { promptOf } from './testing.ts'
import { think } from './think.ts'

const SYSTEM =
  'You improve an agent’s harness. Answer with one JSON array: first {"design"}, then one {"id", "name", "config"} per entry to create or update.'

function reply(user: string, system = SYSTEM): string {
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ]
  const thought = think(promptOf('chat', { messages }), 0)
  return thought.kind === 'text' && !thought.plain ? thought.text : ''
}

function proposed(user: string): { readonly id: string; readonly name: string; readonly text: string } {
  const [design, entry] = objectsOf(parsed(reply(user)))
  expect(textOf(design?.['design'])).not.toBe('')
  return { id: textOf(entry?.['id']), name: textOf(entry?.['name']), text: textOf(objectOf(entry?.['config'])['text']) }
}

const failureOf = (family: string, salt: number): string => {
  const task = PRACTICE_TASKS.find((one) => one.name === `${family}-1`)
  return `Failures (try ${salt}):\n- ${JSON.stringify({ request: task?.prompt, score: 0, feedback: 'wrong' })}`
}

describe('as a proposer', () => {
  it('answers with entries of known kinds under ids any proposer may use', () => {
    for (let salt = 0; salt < 20; salt += 1) {
      const { id, name, text } = proposed(failureOf('roman', salt))
      expect(id).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(['rules', 'skill']).toContain(name)
      expect(text).not.toBe('')
    }
  })

  it('mostly fixes a flaw of the failures shown, sometimes does nothing, sometimes harms', () => {
    const lessons = Array.from({ length: 60 }, (_, salt) => lessonsIn(proposed(failureOf('roman', salt)).text)[0])
    const fixing = lessons.filter((lesson) => lesson === 'subtractive' || lesson === 'answer-line').length
    const harmful = lessons.filter((lesson) => HARMS.some((harm) => harm.name === lesson)).length
    expect(fixing).toBeGreaterThan(35)
    expect(harmful).toBeGreaterThan(0)
    expect(lessons.filter((lesson) => lesson === undefined).length).toBeGreaterThan(0)
  })

  it('does not teach again what the entries shown already say', () => {
    const taught = 'Current entries: rules "State the final answer alone on the last line."'
    const lessons = Array.from({ length: 30 }, (_, salt) => lessonsIn(proposed(`${taught}\n${failureOf('roman', salt)}`).text)[0])
    expect(lessons).toContain('subtractive')
    expect(lessons).not.toContain('answer-line')
  })

  it('writes a skill once the rules are more than the model can hold', () => {
    const taught = FIXES.slice(0, 10).map((fix) => fix.wording[0])
    const entries = Array.from({ length: 20 }, (_, salt) => proposed(`${taught.join('\n')}\n${failureOf('roman', salt)}`))
    expect(entries.some(({ name, text }) => name === 'skill' && text.includes('description:'))).toBe(true)
  })

  it('reads what is taught out of entries quoted as JSON', () => {
    const entries = FIXES.slice(0, 4).map((fix) => ({ id: fix.name, name: 'rules', config: { text: fix.wording[0] } }))
    const lessons = Array.from(
      { length: 30 },
      (_, salt) => lessonsIn(proposed(`Entries: ${JSON.stringify(entries)}\n${failureOf('units', salt)}`).text)[0],
    )
    expect(lessons).not.toContain('state-units')
    expect(lessons).not.toContain('answer-line')
  })

  it('makes a rule of what a person asked for', () => {
    expect(proposed(`Request: Greet me by name.\n${failureOf('roman', 1)}`)).toMatchObject({ name: 'rules', text: 'Greet me by name.' })
  })

  it('answers facts with a handbook', () => {
    const entries = Array.from({ length: 10 }, (_, salt) => proposed(failureOf('lookup', salt)))
    expect(entries.some(({ name, id }) => name === 'skill' && id === 'team-handbook')).toBe(true)
  })

  it('says the same to the same prompt', () => {
    expect(reply(failureOf('dates', 1))).toBe(reply(failureOf('dates', 1)))
  })
})

describe('as a reviewer', () => {
  it('answers the object a review is', () => {
    const system = 'Review the proposal. Answer with JSON: {"result": "complete" or "partial", "covered": [...], "uncovered": [...]}.'
    expect(parsed(reply('The request: count better.', system))).toEqual({
      result: 'complete',
      covered: [expect.any(String)],
      uncovered: [],
    })
  })
})

describe('any other prompt', () => {
  it('is none of it', () => {
    expect(reply('What is 2 + 3 * 4?', 'You are an assistant. Reply in JSON when asked.')).toBe('')
  })
})
