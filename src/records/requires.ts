/** What a user must set up before a change works: named items, each with a kind and a check that the service never runs. */
import { z } from 'zod'
import {
  ENTRY_NAME_CHARACTERS_MAX,
  REQUIRES_ITEMS_MAX,
  REQUIRES_PROMPT_CHARACTERS_MAX,
  type Json,
  type Requires,
} from '../contract/index.ts'
import { countCodePoints, screenText } from '../kit/index.ts'
import { NOT_BLANK } from './fields.ts'
import { shapeProblem } from './shape.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

const NAME_RULE = `must start with a letter or digit and go on with those, '.', '_' or '-', ${ENTRY_NAME_CHARACTERS_MAX} characters at most`
const CHECK_RULE = 'must be a non-blank string'
const VARIABLE_RULE = 'must be the name of an environment variable: letters, digits and _, not starting with a digit'
const PROMPT_RULE = `must be a sentence of at most ${REQUIRES_PROMPT_CHARACTERS_MAX} characters`

/** Two rules that JSON schema keywords cannot express: a maximum length after trimming, and the variable that an env item checks. */
const PROMPT = String.raw`^\s*(?:\S(?:[\s\S]{0,${REQUIRES_PROMPT_CHARACTERS_MAX - 2}}\S)?)?\s*$`
const NAMES_VARIABLE = [
  { properties: { kind: { not: { const: 'env' } } } },
  { required: ['check'], properties: { check: { pattern: VARIABLE.source } } },
  { not: { required: ['check'] }, properties: { name: { pattern: VARIABLE.source } } },
]

const item = z
  .object(
    {
      name: z.string({ error: NAME_RULE }).regex(NAME, { error: NAME_RULE }).max(ENTRY_NAME_CHARACTERS_MAX, { error: NAME_RULE }),
      kind: z.enum(['permission', 'env', 'service'], { error: "must be 'permission', 'env' or 'service'" }),
      check: z
        .string({ error: CHECK_RULE })
        .refine((check) => check.trim() !== '', { error: CHECK_RULE })
        .meta({ pattern: NOT_BLANK })
        .optional(),
      prompt: z
        .string({ error: PROMPT_RULE })
        .trim()
        .refine((prompt) => countCodePoints(prompt) <= REQUIRES_PROMPT_CHARACTERS_MAX, { error: PROMPT_RULE })
        .meta({ pattern: PROMPT })
        .optional(),
    },
    { error: 'must be an object with name and kind' },
  )
  .refine(({ kind, name, check }) => kind !== 'env' || VARIABLE.test(check ?? name), { error: VARIABLE_RULE, path: ['check'] })
  .meta({ anyOf: NAMES_VARIABLE })
  .transform(({ name, kind, check, prompt }): Requires => ({
    name,
    kind,
    ...(check !== undefined && { check }),
    ...(prompt !== undefined && prompt !== '' && { prompt }),
  }))

const LIST_RULE = `must be a list of at most ${REQUIRES_ITEMS_MAX} items`

export const requiresList = z.array(item, { error: LIST_RULE }).max(REQUIRES_ITEMS_MAX, { error: LIST_RULE })

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

/** The items whose check is a command that a user's machine would run. The check of an env item is a variable name. */
export const commandsIn = (requires: readonly Requires[]): readonly Requires[] =>
  requires.filter(({ kind, check }) => kind !== 'env' && check !== undefined)

function judgeItem(offered: Json): Requires | string {
  const parsed = item.safeParse(offered)
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
