/** What a change takes away of earlier requests: the entries it replaces or removes that a person had asked for. */
import { promotionOf, type StepRow, type StepRows } from './chain.ts'
import { isRecord, objectAt, objectsAt, textAt, type UnknownRecord } from './read.ts'

/** "It replaces house-rules, which was asked for in v2." Empty where it takes nothing away. `nameOf` says what a row is called. */
export function replacedRequests<Row extends StepRow>(rows: StepRows<Row>, row: StepRow, nameOf: (row: Row) => string): readonly string[] {
  const earlier = rows.filter((other) => other.step < row.step && wentLive(rows, other)).toSorted((one, other) => other.step - one.step)
  return mutationsIn(row.metrics).flatMap((mutation) => {
    const [op, id] = [textAt(mutation, 'op'), textAt(mutation, 'id')]
    const verb = op === 'update' ? 'replaces' : op === 'remove' ? 'removes' : null
    const last = earlier.find((other) => mutationsIn(other.metrics).some((each) => textAt(each, 'id') === id))
    if (verb === null || id === null || last === undefined || textAt(objectAt(last.metrics, 'training_request'), 'id') === null) return []
    return [`It ${verb} ${id}, which was asked for in ${nameOf(last)}.`]
  })
}

/** The entries that a step changes, as its row has them. */
export function mutationsIn(metrics: UnknownRecord): readonly UnknownRecord[] {
  const { mutation } = metrics
  return isRecord(mutation) ? [mutation] : objectsAt(metrics, 'mutations')
}

const wentLive = (rows: StepRows, row: StepRow): boolean => row.result === 'published' || promotionOf(rows, row) !== undefined
