/** The result in plain text: the message of the commit or patch, with what every task scored before and after. */
import type { ImproveResult, TaskComparison } from './events.ts'

const TITLE = 'Improve the rules and skills of the agent'

/** Lines hold only names, numbers and words of the service: nothing that a model wrote. */
export function messageOf({ rounds, tasks, episodes, input_tokens: input, output_tokens: output, cost }: ImproveResult): string {
  const published = rounds.filter(({ result }) => result === 'published')
  return [
    TITLE,
    '',
    ...published.map(({ round, reason }) => `Round ${round}: ${plain(reason)}.`),
    ...summaryLines(tasks),
    `${episodes} episodes were played${input + output === 0 ? '' : `, with ${input} tokens in and ${output} out`}${cost === null || cost === 0 ? '' : `, cost ${cost.toFixed(2)}`}.`,
    '',
    ...tableLines(tasks),
    '',
  ].join('\n')
}

const plain = (words: string): string => words.replaceAll(/[^\x20-\x7e]+/g, ' ').trim()

/** The mean of each role; sealed tasks chose nothing, so theirs is what to expect elsewhere. */
export function summaryLines(tasks: readonly TaskComparison[]): readonly string[] {
  const roles = [...new Set(tasks.map(({ role }) => role))]
  return roles.flatMap((role) => {
    const those = tasks.filter((task) => task.role === role && task.before !== null && task.after !== null)
    if (those.length === 0) return []
    const mean = (side: 'before' | 'after'): string => scoreText(those.reduce((sum, task) => sum + (task[side] ?? 0), 0) / those.length)
    return [`${role}: ${mean('before')} before, ${mean('after')} after (${those.length} ${those.length === 1 ? 'task' : 'tasks'})`]
  })
}

function tableLines(tasks: readonly TaskComparison[]): readonly string[] {
  const width = Math.max('task'.length, ...tasks.map(({ name }) => name.length))
  const line = (name: string, role: string, before: string, after: string): string =>
    `${name.padEnd(width)}  ${role.padEnd('regression'.length)}  ${before.padStart('before'.length)}  ${after.padStart('after'.length)}`
  return [
    line('task', 'role', 'before', 'after'),
    ...tasks.map(({ name, role, before, after }) => line(name, role, scoreText(before), scoreText(after))),
  ]
}

/** "0.5"; "-" where there is none. */
export const scoreText = (score: number | null): string => (score === null ? '-' : String(Math.round(score * HUNDRED) / HUNDRED))
const HUNDRED = 100
