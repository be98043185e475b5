/** Turns failing reports into tasks: half for training, half held out for the gate. */
import { createHmac } from 'node:crypto'
import { isObject, type Json, type Sample, type Task } from '../../contract/index.ts'
import { countCodePoints, firstCodePoints, screenText } from '../../kit/index.ts'
import { userTexts } from '../exchanges.ts'
import { PROMOTED_PREFIX } from './task.ts'

export interface PromotionLimits {
  /** How many more tasks there may be. */
  readonly tasksMax: number
  /** How many tasks one client may add over the life of the scenario. */
  readonly perClientMax: number
}
export interface Promoted {
  readonly tasks: readonly Task[]
  /** How many were dropped for unsafe text. */
  readonly screened: number
  /** How many tasks each client has added so far. */
  readonly clients: Readonly<Record<string, number>>
}

/** `key` is the scenario's secret, so that no client can choose the half its report falls into. */
export function promote(
  samples: readonly Sample[],
  existing: readonly Task[],
  limits: PromotionLimits,
  key: string,
  clients: Readonly<Record<string, number>>,
): Promoted {
  const failures = samples
    .filter(hasFailed)
    .map((sample) => ({ sample, prompt: promptOf(sample) }))
    .filter(({ prompt }) => isUsable(prompt))
  const clean = failures.filter(({ sample, prompt }) => screenText(`${prompt}\n${feedbackText(sample)}`) === null)
  const known = new Set(existing.map(({ prompt }) => plain(prompt)))
  const counts = new Map(Object.entries(clients))
  const tasks: Task[] = []
  for (const { sample, prompt } of clean) {
    const client = clientOf(sample, key)
    const brought = client === null ? 0 : (counts.get(client) ?? 0)
    if (tasks.length >= limits.tasksMax || brought >= limits.perClientMax || known.has(plain(prompt))) continue
    known.add(plain(prompt))
    if (client !== null) counts.set(client, brought + 1)
    tasks.push(taskOf(sample, prompt, key))
  }
  return { tasks, screened: failures.length - clean.length, clients: Object.fromEntries(counts) }
}

const PASSING_SCORE = 0.5

const hasFailed = (sample: Sample): boolean => (sample.score === null ? feedbackText(sample) !== '' : sample.score < PASSING_SCORE)

/** Longer prompts are documents, not tasks. */
const PROMPT_CHARACTERS_MAX = 20_000

const isUsable = (prompt: string): boolean =>
  prompt.trim() !== '' && !prompt.includes('\0') && countCodePoints(prompt) <= PROMPT_CHARACTERS_MAX

const promptOf = ({ exchanges: [first = {}] }: Sample): string => userTexts(first).at(-1)?.toWellFormed() ?? ''

function feedbackText({ feedback }: Sample): string {
  if (feedback === null) return ''
  return typeof feedback === 'string' ? feedback.trim() : JSON.stringify(feedback)
}

/** Null for clients without a tag: they cannot be distinguished. */
function clientOf({ exchanges }: Sample, key: string): string | null {
  for (const { metadata } of exchanges) {
    const tags = isObject(metadata) && isObject(metadata['tags']) ? metadata['tags'] : {}
    const tag = [tags['client'], tags['session']].find(isNonBlank)
    if (tag !== undefined) return digest(key, 'client', tag)
  }
  return null
}

const isNonBlank = (value: Json | undefined): value is string => typeof value === 'string' && value.trim() !== ''

const DIGEST_HEX_DIGITS = 12
const digest = (key: string, ...parts: readonly string[]): string =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest('hex').slice(0, DIGEST_HEX_DIGITS)

/** The name depends on the prompt, so that a prompt never gets a second name; the role depends on the report. */
function taskOf(sample: Sample, prompt: string, key: string): Task {
  const isForGate = Number.parseInt(digest(key, 'role', ...sample.record_ids), 16) % 2 === 0
  return {
    name: `${PROMOTED_PREFIX}${digest(key, 'prompt', plain(prompt))}`,
    prompt,
    role: isForGate ? 'gate' : 'train',
    data: { rubric: rubricOf(sample), evaluator: 'judge' },
  }
}

const FEEDBACK_CHARACTERS_MAX = 2000

function rubricOf(sample: Sample): string {
  const said = firstCodePoints(feedbackText(sample), FEEDBACK_CHARACTERS_MAX).toWellFormed()
  const known = 'An earlier answer to this was found unsatisfactory. A good answer does all of what was asked.'
  return said === '' ? known : `${known} What was said of the earlier one, which a good answer gives no cause for:\n${said}`
}

/** All white space but a single space, which is the common case. */
const SPACING = /[^\S ]\s*| \s+/g

/** Ignores spacing and case. */
const plain = (text: string): string => text.replaceAll(SPACING, ' ').trim().toLowerCase()
