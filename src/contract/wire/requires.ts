/** What a person must have set up before a release works on their machine. */
import { z } from 'zod'
import { ENTRY_NAME_CHARACTERS_MAX, REQUIRES_ITEMS_MAX, REQUIRES_PROMPT_CHARACTERS_MAX } from '../limits.ts'
import { isWithin, notBlank, text, type WireType } from './fields.ts'

const itemKind = z.enum(['permission', 'env', 'service', 'binary'], { error: "must be 'permission', 'env', 'service' or 'binary'" })

export const requiresSchema = z.object({ name: text, kind: itemKind, check: z.exactOptional(text), prompt: z.exactOptional(text) })
/**
 * The `check` of `env` is the variable, that of `binary` the program on the PATH (the name when absent); otherwise it is a shell command whose exit
 * status 0 means satisfied. The service never runs it.
 */
export type Requires = WireType<typeof requiresSchema>

/** Whether a user's machine would run its check; that of an `env` or `binary` item is a name. */
export const checksByCommand = ({ kind, check }: { readonly kind?: unknown; readonly check?: unknown }): boolean =>
  kind !== 'env' && kind !== 'binary' && check !== undefined && check !== null

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/
const PROGRAM = new RegExp(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,${ENTRY_NAME_CHARACTERS_MAX - 1}}$`)
const NAME_RULE = `must start with a letter or digit and go on with those, '.', '_' or '-', ${ENTRY_NAME_CHARACTERS_MAX} characters at most`
const VARIABLE_RULE = 'must be the name of an environment variable: letters, digits and _, not starting with a digit'
const PROGRAM_RULE = `must be the name of a program, not a path or a command: letters, digits, '.', '_', '+' and '-', ${ENTRY_NAME_CHARACTERS_MAX} characters at most`
const PROMPT_RULE = `must be a sentence of at most ${REQUIRES_PROMPT_CHARACTERS_MAX} characters`
/** JSON schema has no keyword for a length once trimmed, nor for the name that an env or binary item checks. */
const PROMPT = String.raw`^\s*(?:\S(?:[\s\S]{0,${REQUIRES_PROMPT_CHARACTERS_MAX - 2}}\S)?)?\s*$`
const checksName = (kind: 'env' | 'binary', { source: pattern }: RegExp) => [
  { required: ['check'], properties: { kind: { const: kind }, check: { pattern } } },
  { not: { required: ['check'] }, properties: { kind: { const: kind }, name: { pattern } } },
]
const NAMES_CHECKED = [
  { properties: { kind: { enum: ['permission', 'service'] } } },
  ...checksName('env', VARIABLE),
  ...checksName('binary', PROGRAM),
]

/** An item as it is sent; what is kept of it is a `Requires`. */
export const requiresItem = z
  .object(
    {
      name: z.string({ error: NAME_RULE }).regex(NAME, { error: NAME_RULE }).max(ENTRY_NAME_CHARACTERS_MAX, { error: NAME_RULE }),
      kind: itemKind,
      check: z.exactOptional(notBlank('must be a non-blank string')),
      prompt: z.exactOptional(
        z
          .string({ error: PROMPT_RULE })
          .trim()
          .refine((prompt) => isWithin(prompt, REQUIRES_PROMPT_CHARACTERS_MAX), { error: PROMPT_RULE })
          .meta({ pattern: PROMPT }),
      ),
    },
    { error: 'must be an object with name and kind' },
  )
  .refine((item) => item.kind !== 'env' || VARIABLE.test(item.check ?? item.name), { error: VARIABLE_RULE, path: ['check'] })
  .refine((item) => item.kind !== 'binary' || PROGRAM.test(item.check ?? item.name), { error: PROGRAM_RULE, path: ['check'] })
  .meta({ anyOf: NAMES_CHECKED })
  .transform(({ prompt = '', ...item }): Requires => (prompt === '' ? item : { ...item, prompt }))

const LIST_RULE = `must be a list of at most ${REQUIRES_ITEMS_MAX} items`
export const requiresList = z.array(requiresItem, { error: LIST_RULE }).max(REQUIRES_ITEMS_MAX, { error: LIST_RULE })
