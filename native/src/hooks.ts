/** Hooks of the tree: those of one event decide one after the other, each over what the ones below it decided. */
import { field } from '@svc-ai/client/shared'
import { HOOK_SECONDS_MAX } from './limits.ts'
import { runModule } from './module.ts'
import type { Data, HookEvent } from './tree.ts'
import type { AgentTurn } from './turn.ts'

/** The actions of each event, the first of which is the default. */
const ACTIONS = {
  pre_step: ['enter', 'reject'],
  pre_execute: ['allow', 'deny', 'ask'],
  request_error: ['fail', 'retry'],
  post_execute: ['accept', 'block'],
} as const satisfies Record<HookEvent, readonly string[]>

interface Decision<E extends HookEvent> {
  readonly action: (typeof ACTIONS)[E][number]
  readonly reason: string
  /** Whatever else it says: `messages`, `args`, `content`, `contexts`. */
  readonly data: Data
}

/** A hook that fails, hangs or decides nonsense decides nothing: what is below it holds. */
export async function decide<E extends HookEvent>(
  turn: AgentTurn,
  event: E,
  about: Data,
  otherwise: (typeof ACTIONS)[E][number],
): Promise<Decision<E>> {
  const hooks = turn.scene.tree.hooks.filter((hook) => hook.event === event).map(({ name, code }) => ({ name, code }))
  if (hooks.length === 0) return { action: otherwise, reason: '', data: {} }
  const outcome = await runModule({
    task: { kind: 'hooks', hooks, event: { event, ...about }, otherwise: { action: otherwise } },
    capabilities: ['read'],
    workdir: turn.scene.workdir,
    secondsMax: HOOK_SECONDS_MAX,
    signal: turn.scene.signal,
  })
  if (!outcome.ok) turn.log.write('hook/error', { event, problem: outcome.problem })
  for (const error of outcome.ok ? listOf(field(outcome.value, 'errors')) : []) turn.log.write('hook/error', { event, error })
  const decision = outcome.ok ? field(outcome.value, 'decision') : undefined
  const action = ACTIONS[event].find((each) => each === field(decision, 'action')) ?? otherwise
  const reason = field(decision, 'reason')
  const data = typeof decision === 'object' && decision !== null ? { ...decision } : {}
  turn.log.write('hook/decision', { event, decision: { ...data, action } })
  return { action, reason: typeof reason === 'string' ? reason : '', data }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The texts of a field that hooks may set. */
export const textsIn = (data: Data, name: string): readonly string[] =>
  listOf(data[name]).filter((each): each is string => typeof each === 'string')
