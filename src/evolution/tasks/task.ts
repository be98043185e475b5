/** Parses and checks one task. Each message completes a sentence that begins with the field. */
import { isAbsolute, normalize } from 'node:path'
import { z } from 'zod'
import {
  invalid,
  isObject,
  checkFiles,
  isRefusal,
  pathProblem,
  TASK_ROLES,
  type Json,
  type Task,
  type Files,
} from '../../contract/index.ts'

/** Reserved for tasks made from reports. */
export const PROMOTED_PREFIX = 'promoted-'

const NAME_CHARACTERS_MAX = 128
/** A prompt is one command-line argument, which Linux limits to 128 KiB. */
const PROMPT_BYTES_MAX = 100_000
const TASK_FILES_MAX = 5000

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/
const NAME_RULE = `must start with a letter or digit and go on with those, '.', '_' or '-', ${NAME_CHARACTERS_MAX} characters at most`
const PROMOTED_RULE = `must not start with ${PROMOTED_PREFIX}: tasks that come from reports do`
const isName = (value: unknown): value is string => typeof value === 'string' && value.length <= NAME_CHARACTERS_MAX && NAME.test(value)
const familySchema = z.custom<string>(isName, NAME_RULE)
const nameSchema = familySchema.refine((chosen) => !chosen.startsWith(PROMOTED_PREFIX), PROMOTED_RULE)

const TEXT_RULE = 'must be non-blank text; put quotes around a number'
const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const textSchema = z.custom<string>(isText, TEXT_RULE)

const PROMPT_RULE = `must be at most ${PROMPT_BYTES_MAX} bytes and hold no NUL: it is one command-line argument; put the rest into files`
const promptSchema = z
  .custom<string>(isText, `${TEXT_RULE}, and say what the agent is asked`)
  .refine((words) => Buffer.byteLength(words) <= PROMPT_BYTES_MAX && !words.includes('\0'), PROMPT_RULE)

const TEXTS_RULE = 'must be non-blank text, or a list of such texts; put quotes around a number'
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isText)
const textOrTexts = z.custom<string | string[]>((value) => isText(value) || areTexts(value), TEXTS_RULE)

const filesSchema = z.record(z.string(), z.string('must be text'), 'must be an object of paths and texts').superRefine((given, context) => {
  const problem = filesProblem(given)
  if (problem !== null) context.addIssue({ code: 'custom', message: problem })
})

function filesProblem(given: Files): string | null {
  if (Object.keys(given).length > TASK_FILES_MAX) return `must be ${TASK_FILES_MAX} files at most`
  try {
    checkFiles(given)
    return null
  } catch (error) {
    if (isRefusal(error)) return `cannot be laid out: ${error.message}`
    throw error
  }
}

const DEPENDENCIES_MAX = 64
const DEPENDENCIES_RULE = `must be an object of at most ${DEPENDENCIES_MAX} paths in the workspace and folders of this machine in full, such as node_modules: /home/me/app/node_modules`
const isPlace = (path: string): boolean => pathProblem(path) === null
const isFolderInFull = (folder: unknown): boolean =>
  typeof folder === 'string' && isAbsolute(folder) && normalize(folder) === folder && !/[\0\n]/.test(folder)
const dependenciesSchema = z.custom<Readonly<Record<string, string>>>(
  (given) =>
    isObject(given) &&
    Object.keys(given).length <= DEPENDENCIES_MAX &&
    Object.entries(given).every(([path, folder]) => isPlace(path) && isFolderInFull(folder)),
  DEPENDENCIES_RULE,
)

const DATA_BYTES_MAX = 1024 * 1024
const DATA_RULE = `must be an object of at most ${DATA_BYTES_MAX} bytes of JSON`
const dataSchema = z
  .record(z.string(), z.json('must be JSON'), DATA_RULE)
  .refine((given) => Buffer.byteLength(JSON.stringify(given)) <= DATA_BYTES_MAX, DATA_RULE)
  .superRefine((given, context) => {
    const taken = Object.keys(given).find((field) => Object.hasOwn(shape, field))
    if (taken !== undefined)
      context.addIssue({ code: 'custom', message: `must not hold ${taken}, which is a field of tasks; write it beside data` })
  })

const shape = {
  name: nameSchema,
  prompt: promptSchema,
  role: z.enum(TASK_ROLES, `must be one of ${TASK_ROLES.join(', ')}`).default('gate'),
  family: familySchema.exactOptional(),
  answer: textOrTexts.exactOptional(),
  files: filesSchema.exactOptional(),
  dependencies: dependenciesSchema.exactOptional(),
  verify: textOrTexts.exactOptional(),
  verify_files: filesSchema.exactOptional(),
  verify_reward: z.boolean('must be true or false').exactOptional(),
  rubric: textSchema.exactOptional(),
  evaluator: textSchema.exactOptional(),
  data: dataSchema.exactOptional(),
}
const KNOWN = Object.keys(shape).join(', ')

/** Unknown fields are refused: a misspelt field must not count as absent. */
const FIELDS = z.strictObject(shape, {
  error: ({ code }) =>
    code === 'unrecognized_keys' ? `holds an unknown field; there are: ${KNOWN}` : `must be text, or an object of ${KNOWN}`,
})

export const TASK_BYTES_MAX = 16 * 1024 * 1024

/** `where` begins the message of a refusal. */
export function taskFrom(value: Json, where?: string): Task {
  const parsed = FIELDS.safeParse(value)
  const titled = isObject(value) && isName(value['name']) ? [`task ${value['name']}`] : []
  const named = [...(where === undefined ? [] : [where]), ...titled].join(': ') || 'a task'
  if (!parsed.success) throw invalid('task_invalid', `${named}: ${ruleIn(parsed.error.issues)}`)
  const { name, prompt, role, family, files, dependencies, data: free = {}, ...fields } = parsed.data
  const data = { ...free, ...fields }
  const task: Task = {
    name,
    prompt,
    role,
    ...(family !== undefined && { family }),
    ...(files && { files }),
    ...(dependencies && { dependencies }),
    ...(Object.keys(data).length > 0 && { data }),
  }
  if (bytesOf(task) <= TASK_BYTES_MAX) return task
  throw invalid('task_invalid', `${named}: files and verify_files must be at most ${TASK_BYTES_MAX} bytes together`)
}

function ruleIn([issue]: readonly z.core.$ZodIssue[]): string {
  const steps = (issue?.path ?? []).map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
  return `${steps.join('').slice(1) || 'it'} ${issue?.message ?? 'is refused'}`
}

/** The size of its files, including the verifier's. */
export function bytesOf({ files = {}, data = {} }: Task): number {
  const hidden = isObject(data['verify_files']) ? data['verify_files'] : {}
  const texts = [...Object.values(files), ...Object.values(hidden)].filter((text) => typeof text === 'string')
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
