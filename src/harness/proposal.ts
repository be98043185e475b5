/** Parses a proposal: mutations of a tree, with a reason, a session and a release. */
import { z } from 'zod'
import {
  invalid,
  PROPOSAL_BYTES_MAX,
  PROPOSAL_MUTATIONS_MAX,
  RECORD_ID_CHARACTERS_MAX,
  type Json,
  type JsonObject,
  type Mutation,
} from '../contract/index.ts'
import { countCodePoints } from '../kit/index.ts'
import { LIST_RULE, parseMutations } from './admission.ts'
import { brokenRule } from './fields.ts'

/** Pages show the reason, and a row keeps it. */
const REASON_CHARACTERS_MAX = 4000

export interface NewProposal {
  readonly mutations: readonly Mutation[]
  readonly reason: string
  readonly session: string
  readonly release_id: string
}

const account = z.object({
  // May be empty.
  reason: atMost(REASON_CHARACTERS_MAX, z.string({ error: 'must be text; say in words what the change is for' })),
  session: atMost(RECORD_ID_CHARACTERS_MAX, notBlank('must be text; name the session that proposes')),
  release_id: atMost(RECORD_ID_CHARACTERS_MAX, notBlank('must be text; name the release the session runs')),
})

const id = z.string({ error: 'must be the id of the entry, as text' })
const options = z.looseObject(
  {
    name: z.string({ error: 'must be the text that names its kind' }),
    config: z.looseObject({}, { error: 'must be an object' }),
    disabled: z.boolean({ error: 'must be true or false' }).optional(),
  },
  { error: 'must be an object {name, config, disabled}' },
)

/** The shape of mutations, independent of the tree. */
const proposedMutations = z
  .array(
    z.discriminatedUnion(
      'op',
      [
        z.looseObject({ op: z.literal('create'), id, options }),
        z.looseObject({ op: z.literal('update'), id, options: options.partial() }),
        z.looseObject({ op: z.literal('remove'), id, options: z.null({ error: 'must be left out of a remove' }).optional() }),
      ],
      { error: (issue) => (issue.code === 'invalid_union' ? 'must be create, update or remove' : 'must be an object {op, id, options}') },
    ),
    { error: LIST_RULE },
  )
  .min(1, { error: LIST_RULE })
  .max(PROPOSAL_MUTATIONS_MAX, { error: LIST_RULE })

/** Admission decides whether the change may be made. */
export const proposalBody = account.extend({ mutations: proposedMutations })

/** Throws Refusal 'invalid' for a malformed proposal; drops unknown fields. */
export function parseProposal(body: JsonObject): NewProposal {
  if (Buffer.byteLength(JSON.stringify(body)) > PROPOSAL_BYTES_MAX)
    throw bad(`a proposal must be at most ${PROPOSAL_BYTES_MAX} bytes of JSON; propose less at once`)
  return { mutations: mutationsIn(body['mutations'] ?? null), ...accountIn(body) }
}

const bad = (message: string): Error => invalid('bad_proposal', message)

function mutationsIn(value: Json): readonly Mutation[] {
  const problem = brokenRule(proposedMutations, value, 'mutations')
  if (problem !== null) throw bad(problem)
  return parseMutations(value)
}

function accountIn(body: JsonObject): z.infer<typeof account> {
  const { success, data, error } = account.safeParse(body)
  if (success) return data
  const [issue] = error.issues
  throw bad(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not acceptable'}`)
}

function notBlank(error: string): z.ZodString {
  return z.string({ error }).regex(/\S/, { error })
}

/** Counted in code points, as JSON schemas count them. */
function atMost(charactersMax: number, text: z.ZodString): z.ZodString {
  return text
    .refine((value) => countCodePoints(value) <= charactersMax, { error: `must be at most ${charactersMax} characters` })
    .meta({ maxLength: charactersMax })
}
