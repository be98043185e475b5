/** What a step took of tokens and money, in words. Without prices the cost is unknown, which is not 0. */
import { counted, formatted, whole } from './numbers.ts'
import { isRecord, numberAt, textAt, type UnknownRecord } from './read.ts'

/** "34,100 tokens in (10,000 cached), 2,000 out, cost 0.12"; null where nothing was counted. `name` is that of the metric. */
export function spentText(metrics: UnknownRecord, name: 'spent' | 'improvement_spent' = 'spent'): string | null {
  const spent = metrics[name]
  if (!isRecord(spent)) return null
  const [input, output, cached = 0] = (['input_tokens', 'output_tokens', 'cached_tokens'] as const).map((key) => numberAt(spent, key) ?? 0)
  const steps = numberAt(spent, 'steps')
  return [
    ...(steps === null ? [] : [counted(steps, 'step')]),
    `${whole(input ?? 0)} tokens in${cached > 0 ? ` (${whole(cached)} cached)` : ''}`,
    `${whole(output ?? 0)} out`,
    costText(numberAt(spent, 'cost'), numberAt(spent, 'unpriced_calls') ?? 0),
  ].join(', ')
}

/** The cap that ended the step, in its own words; null where none did. */
export const capText = (metrics: UnknownRecord): string | null => textAt(metrics, 'cap_reached')

/** `unpriced`: of so many calls no price is known. */
export function costText(cost: number | null, unpriced = 0): string {
  if (cost === null) return 'cost unknown'
  return unpriced === 0
    ? `cost ${moneyText(cost)}`
    : `cost at least ${moneyText(cost)}, for the price of ${counted(unpriced, 'call')} is unknown`
}

/** "3.40", "0.0012": small amounts keep their digits. */
export const moneyText = (cost: number): string => (cost === 0 || cost >= SMALL ? cost.toFixed(2) : formatted(Number(cost.toPrecision(2))))
const SMALL = 0.1
