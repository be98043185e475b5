/** Parses and checks one task. */
import { invalid, isObject, type Json, type Task } from '../../contract/index.ts'
import { FIELDS, isName } from './fields.ts'

export const TASK_BYTES_MAX = 16 * 1024 * 1024

/** `where` begins the message of a refusal. */
export function taskFrom(value: Json, where: string): Task {
  const parsed = FIELDS.safeParse(value)
  const named = isObject(value) && isName(value['name']) ? `${where}: task ${value['name']}` : where
  if (!parsed.success) throw invalid('task_invalid', `${named}: ${ruleIn(parsed.error.issues)}`)
  const { name, prompt, role, files, data: free = {}, ...fields } = parsed.data
  const data = { ...free, ...fields }
  const task: Task = { name, prompt, role, ...(files && { files }), ...(Object.keys(data).length > 0 && { data }) }
  if (bytesOf(task) <= TASK_BYTES_MAX) return task
  throw invalid('task_invalid', `${named}: files and verify_files must be at most ${TASK_BYTES_MAX} bytes together`)
}

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

function ruleIn([issue]: readonly Issue[]): string {
  const steps = (issue?.path ?? []).map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
  return `${steps.join('').slice(1) || 'it'} ${issue?.message ?? 'is refused'}`
}

/** The size of its files, including the verifier's. */
export function bytesOf({ files = {}, data = {} }: Task): number {
  const hidden = isObject(data['verify_files']) ? data['verify_files'] : {}
  const texts = [...Object.values(files), ...Object.values(hidden)].filter((text) => typeof text === 'string')
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
