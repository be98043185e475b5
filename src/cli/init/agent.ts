/** The question for the agent to improve: a known adapter, or none, which only records exchanges. */
import { allKeys, nearest } from '../../config/index.ts'
import { chosenByNumber, type InitQuestion } from './ask.ts'

const NONE = 'none'
/** The recipe without an agent. */
export const RECORDING = 'record-only'
const KEY = 'evolution.adapter'

export function agentQuestion(): InitQuestion {
  const names = [NONE, ...adapterNames()]
  return {
    option: '--adapter',
    title: 'Which agent should improve?',
    choices: [`${NONE}: only record (default)`, ...names.slice(1)],
    read(answer) {
      const name = chosenByNumber(answer, names) ?? (answer === '' ? NONE : answer)
      if (name === NONE) return Promise.resolve({ settings: { recipe: RECORDING }, words: 'exchanges are recorded' })
      if (names.includes(name)) return Promise.resolve({ settings: { recipe: 'harness', [KEY]: name }, words: `${name} improves` })
      const meant = nearest(name, names)
      const hint = meant === null ? `there are: ${names.join(', ')}` : `did you mean ${meant}?`
      return Promise.resolve({ problem: `no agent of that name is known; ${hint}` })
    },
  }
}

/** The names in the description of the key. */
export function adapterNames(): readonly string[] {
  const description = allKeys().find(({ key }) => key === KEY)?.description ?? ''
  return [...description.matchAll(/`([a-z]+)`/g)].map(([, name = '']) => name)
}
