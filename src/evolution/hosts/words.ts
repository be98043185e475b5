/**
 * Plays our own agent where its tree is nothing but rules, in this process: without tools, hooks and loops a turn of it is one question to the
 * model. No program is started, and no file is read or written.
 */
import type { Adapter, Entry, Episode, Model } from '../../contract/index.ts'
import { renderTree } from '../../harness/index.ts'
import { wordsOf } from '../../kit/index.ts'
import { NATIVE } from '../program.ts'

/** The configuration names it in place of an executor. */
export const NO_EXECUTOR = 'none'

export const NOT_RULES_ALONE =
  'evolution.executor: none starts no program, and plays the agent native with rules alone, without tasks that have files; set it to sandbox'

/** The rules that such an agent reads before the task; null where anything but the model would have to run. */
export function rulesAlone(adapter: Adapter, entries: readonly Entry[]): string | null {
  const inForce = entries.filter(({ disabled }) => disabled !== true)
  if (adapter.binary !== NATIVE || inForce.some(({ name }) => name !== 'rules')) return null
  const { rules } = adapter.layout
  return rules === undefined ? null : (renderTree(adapter, inForce)[rules] ?? '')
}

interface RulesQuestion {
  readonly rules: string
  readonly prompt: string
  readonly timeoutSeconds: number
}

export async function askOnce(model: Model, { rules, prompt, timeoutSeconds }: RulesQuestion, signal: AbortSignal): Promise<Episode> {
  const system = rules === '' ? [] : [{ role: 'system', content: rules } as const]
  const ended = { exitCode: 0, stderr: '', trajectory: [] }
  try {
    return { ...ended, stdout: await model.chat([...system, { role: 'user', content: prompt }], { timeoutSeconds }) }
  } catch (error) {
    signal.throwIfAborted()
    return { ...ended, exitCode: 1, stdout: '', modelFailure: wordsOf(error) }
  }
}
