/** What a user must set up before a change works: named items, each with a kind and a check that the service never runs. */
import { REQUIRES_ITEMS_MAX, type Json, type Requires } from '../contract/index.ts'
import { requiresItem } from '../contract/wire/index.ts'
import { screenText } from '../kit/index.ts'
import { shapeProblem } from './shape.ts'

/** Every text of an item that must be screened. */
export function textsOf({ name, check, prompt }: Requires): readonly string[] {
  return [name, check ?? '', prompt ?? '']
}

export interface MergedRequires {
  readonly requires: readonly Requires[]
  /** The items of the method that were refused, each with the rule. */
  readonly refused: readonly { readonly item: Json; readonly reason: string }[]
}

/** The request's items stay; the method only adds new names, screened, while there is room. A bad item is refused alone. */
export function mergeRequires(own: readonly Requires[], added: readonly Json[]): MergedRequires {
  const requires = [...own]
  const refused: { item: Json; reason: string }[] = []
  for (const offered of added) {
    const judged = judgeItem(offered)
    if (typeof judged === 'string') refused.push({ item: redacted(offered), reason: judged })
    else if (requires.some(({ name }) => name === judged.name)) continue
    else if (requires.length >= REQUIRES_ITEMS_MAX) refused.push({ item: offered, reason: `only ${REQUIRES_ITEMS_MAX} items fit` })
    else requires.push(judged)
  }
  return { requires, refused }
}

function judgeItem(offered: Json): Requires | string {
  const parsed = requiresItem.safeParse(offered)
  if (!parsed.success) return shapeProblem(parsed.error, '')
  return (
    textsOf(parsed.data)
      .map(screenText)
      .find((hit) => hit !== null) ?? parsed.data
  )
}

/** Rows are public: refused text is not repeated in them. */
function redacted(offered: Json): Json {
  return screenText(JSON.stringify(offered)) === null ? offered : '(withheld)'
}
