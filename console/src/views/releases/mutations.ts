/** What a step changes in the tree of entries, read out of its metrics, whatever shape they are of. Pure. */
import { dataAt, isData, listAt, pretty, textAt, type Data } from '../../data/json.ts'

export interface Mutation {
  readonly op: string
  readonly id: string
  readonly kind: string | null
  /** What people read of the entry: its text, code or prompt. */
  readonly text: string | null
  readonly isCode: boolean
  /** Everything else of it, as JSON; null where there is nothing else. */
  readonly rest: string | null
}

export function mutationsOf(metrics: Data): readonly Mutation[] {
  const { mutation } = metrics
  return (isData(mutation) ? [mutation] : listAt(metrics, 'mutations').filter(isData)).map(mutationOf)
}

const READ = ['text', 'code', 'prompt'] as const

function mutationOf(mutation: Data): Mutation {
  const options = dataAt(mutation, 'options')
  const config = dataAt(options, 'config')
  const field = READ.find((name) => typeof config[name] === 'string') ?? ''
  const { [field]: text, ...others } = config
  const rest = { ...others, ...(options['disabled'] === true && { disabled: true }) }
  return {
    op: textAt(mutation, 'op') ?? 'unknown',
    id: textAt(mutation, 'id') ?? 'unnamed',
    kind: textAt(options, 'name'),
    text: typeof text === 'string' ? text : null,
    isCode: field === 'code',
    rest: Object.keys(rest).length === 0 ? null : pretty(rest),
  }
}
