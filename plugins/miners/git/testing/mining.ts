/** Mining for tests: what the git miner finds in a repository, and what it says meanwhile. */
import { isObject, type MinedTask, type MiningOrder } from '../../../../src/contract/index.ts'
import git from '../index.ts'

export const PACKAGE = '{"type":"module","scripts":{"test":"node --test"}}\n'

export const miner = await git.plugin.make({})

export async function mined(source: string, order: Partial<MiningOrder> = {}) {
  const [tasks, lines]: [MinedTask[], string[]] = [[], []]
  const whole = { source, tasksMax: 100, known: new Set<string>(), signal: new AbortController().signal, ...order }
  const report = (line: string): void => void lines.push(line)
  const passOver = (origin: string, reason: string): void => report(`${origin}: passed over: ${reason}`)
  for await (const task of miner.mine({ ...whole, report, passOver })) tasks.push(task)
  return { tasks, lines }
}

export function scriptOf(task: MinedTask | undefined): string {
  const files = task?.data['verify_files']
  const written = isObject(files) ? files['verify/run.sh'] : undefined
  return typeof written === 'string' ? written : ''
}
