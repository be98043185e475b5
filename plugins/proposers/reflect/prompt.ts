/** The prompt: runs, entries, earlier edits, and the answer's format. */
import type { Brief, ChatMessage, Entry, Model } from '../../../src/contract/index.ts'
import {
  DATA_REMINDER,
  describeMachine,
  describeRejected,
  describeSamples,
  groundRules,
  REQUIRES_GUIDE,
  mutationsOf,
  needsIn,
  replyIn,
} from '../../../src/evolution/index.ts'
import { asData, fence } from '../../../src/kit/index.ts'
import { isReserved } from '../../../src/harness/index.ts'
import { gainOf, editId, type EditCandidate, type ReflectArchive } from './archive.ts'
import { WON } from './coreset.ts'
import { meanOf, type TaskRun, type EditDraft } from './draft.ts'
import { episodeText, excerpt, fitted, line } from './excerpt.ts'
import { editWords, isSameIdea } from './words.ts'

/** A larger edit would hide which part of it helped. */
const EDIT_ENTRIES_MAX = 3
const ENTRIES_CHARACTERS_MAX = 60_000
const RUNS_CHARACTERS_MAX = 90_000
const SAMPLES_CHARACTERS_MAX = 40_000
const EXPECTED_CHARACTERS_MAX = 1000
const PROMPT_CHARACTERS_MAX = 8000

export interface PromptEvidence {
  /** Runs of the current tree. */
  readonly current: readonly TaskRun[]
  /** Runs with edits of this step. */
  readonly tried: readonly TaskRun[]
  /** Candidates of this tree that did not help with the failing tasks. */
  readonly candidates: readonly EditCandidate[]
}

export function messagesFor(brief: Brief, evidence: PromptEvidence): readonly ChatMessage[] {
  const sections = [
    goalOf(brief),
    section('The entries of the harness as it is, one per line:', 'entries', entriesText(brief.entries)),
    ...runSections(evidence),
    brief.samples.length === 0
      ? ''
      : section('What people had from it, the worst first:', 'feedback', excerpt(describeSamples(brief.samples), SAMPLES_CHARACTERS_MAX)),
    ...pastSections(brief, evidence),
    DATA_REMINDER,
    brief.request === null ? TASK : ASKED_TASK,
    brief.request === null ? FORMAT : `${FORMAT}\n- last {"requires": […]}, where it is needed\n\n${REQUIRES_GUIDE}`,
  ]
  return [
    { role: 'system', content: groundRules(brief) },
    { role: 'user', content: sections.filter((text) => text !== '').join('\n\n') },
  ]
}

/** The request is untrusted text: it says what is wanted and gives no instructions. */
const goalOf = ({ request }: Brief): string =>
  request === null
    ? 'The goal: the agent does better on work of this kind which nobody has shown you.'
    : `${section('The goal is what a person asked for:', 'request', `Request: ${request.text}`)}\n${describeMachine(request.client)}`

const section = (title: string, label: string, text: string): string => `${title}\n${fence(label, text)}`

function entriesText(entries: readonly Entry[]): string {
  const shown = shownEntries(entries)
  return shown.length === 0 ? '(none yet)' : shown.map(({ text }) => text).join('\n')
}

/** Entries as far as they fit. An update replaces the whole entry, so only one that was shown whole may be updated. */
function shownEntries(entries: readonly Entry[]): readonly { readonly id: string; readonly text: string; readonly isWhole: boolean }[] {
  const shown = entries.filter(({ id }) => !isReserved(id))
  const printed = shown.map((entry) => JSON.stringify(entry))
  const texts = fitted(printed, ENTRIES_CHARACTERS_MAX)
  return shown.map(({ id }, index) => ({ id, text: texts[index] ?? '', isWhole: texts[index] === printed[index] }))
}

/** Failing runs, passing runs, and tried edits that made a difference. */
function runSections({ current, tried }: PromptEvidence): readonly string[] {
  const before = new Map(current.map((run) => [run.task.name, meanOf(run)]))
  const telling = tried.filter((run) => meanOf(run) !== before.get(run.task.name))
  const groups = [
    { title: 'Runs that were lost:', runs: current.filter((run) => meanOf(run) < WON) },
    { title: 'Runs that were won:', runs: current.filter((run) => meanOf(run) >= WON) },
    { title: 'The same tasks with an edit that was tried and made a difference:', runs: telling },
  ]
  const all = groups.flatMap(({ runs }) => runs)
  const texts = fitted(all.map(runText), RUNS_CHARACTERS_MAX)
  return groups.flatMap(({ title, runs }) => {
    const blocks = runs.map((run) => fence('run', texts[all.indexOf(run)] ?? ''))
    return blocks.length === 0 ? [] : [[title, ...blocks].join('\n')]
  })
}

function runText({ task, rolls, failure, episode, edit }: TaskRun): string {
  const head = {
    task: excerpt(task.prompt, PROMPT_CHARACTERS_MAX),
    ...(rolls.length === 1 ? { score: rolls[0] } : { scores: rolls }),
    ...(failure !== null && { failure }),
    ...(edit !== null && { edit }),
    ...(task.data !== undefined && { scored_by: excerpt(line(task.data), EXPECTED_CHARACTERS_MAX) }),
  }
  return `${line(head)}\n${episode === null ? '(what the agent did is not at hand)' : episodeText(episode)}`
}

function pastSections({ rejected }: Brief, { candidates }: PromptEvidence): readonly string[] {
  const tried = candidates.map((candidate) => ({ step: 0, mutations: candidate.mutations, reason: summaryOf(candidate) }))
  return [
    ...(rejected.length === 0
      ? []
      : [section('Edits that were turned down. Do not propose them again:', 'rejected', describeRejected(rejected))]),
    ...(tried.length === 0 ? [] : [section('Edits that were tried already. Propose another:', 'tried', describeRejected(tried))]),
  ]
}

function summaryOf(candidate: EditCandidate): string {
  const better = candidate.scores.filter(({ score, current }) => score > current).length
  const worse = candidate.scores.filter(({ score, current }) => score < current).length
  return `edit ${candidate.id}: better on ${better}, worse on ${worse} of ${candidate.scores.length} tasks, ${gainOf(candidate)} in sum`
}

const BOUNDS = `Touch at most ${EDIT_ENTRIES_MAX} entries, and rather change one that is there than add one. Leave what works as it is.`

const TASK = `Think first, in a few sentences of prose: what the lost runs have in common, what the won ones had that they lack, and which habit
would have turned them. Then propose the edit that teaches this habit. ${BOUNDS} Write what holds for every task of the kind: names,
numbers and facts of the tasks above are of no use elsewhere.`

const ASKED_TASK = `Think first, in a few sentences of prose: what is asked for, and what the harness lacks for it. Then propose the edit that
brings it, complete, without anything else. ${BOUNDS}`

const FORMAT = `After the prose comes one JSON array:
- first {"design": "what the edit does and why"}
- then {"id", "name", "config"} for each entry to create, or to update under the id it has; "name" is the kind, "config" is whole
- {"id", "remove": true} for an entry that should go`

const ASKS_MAX = 3
const ANSWER_TOKENS_MAX = 16_384
const ANSWER_TIMEOUT_SECONDS = 300
const REPLY_CHARACTERS_SHOWN = 4000
const REFLECTION_CHARACTERS_MAX = 2000
const DESIGN_CHARACTERS_MAX = 4000

/** A valid new draft, or null. Throws when the first call fails; a later failure gives null. */
export async function ask(brief: Brief, model: Model, archive: ReflectArchive, evidence: PromptEvidence): Promise<EditDraft | null> {
  const messages: ChatMessage[] = [...messagesFor(brief, evidence)]
  for (let asked = 1; asked <= ASKS_MAX; asked += 1) {
    const text = await answer(model, messages).catch((error: unknown) => {
      brief.signal.throwIfAborted()
      if (asked === 1) throw error
      return null
    })
    if (text === null) return null
    const draft = draftIn(text, brief, archive, evidence)
    if (typeof draft !== 'string') return draft
    brief.report.line('check', `an edit is not used: ${draft}`, true)
    messages.push(
      { role: 'assistant', content: asData(text, REPLY_CHARACTERS_SHOWN) },
      { role: 'user', content: `That edit is not used:\n${fence('reason', draft)}\nPropose another, in the same form (try ${asked + 1}).` },
    )
  }
  return null
}

const answer = (model: Model, messages: readonly ChatMessage[]): Promise<string> =>
  model.chat(messages, { tokensMax: ANSWER_TOKENS_MAX, timeoutSeconds: ANSWER_TIMEOUT_SECONDS })

/** The reply's draft, or why it cannot be used. */
function draftIn(text: string, brief: Brief, archive: ReflectArchive, evidence: PromptEvidence): EditDraft | string {
  const reply = replyIn(text)
  if (typeof reply === 'string') return reply
  const { mutations, dropped } = mutationsOf(reply, brief.entries, brief.adapter)
  if (mutations.length === 0) return dropped.join('; ')
  if (mutations.length > EDIT_ENTRIES_MAX) return `it touches more than ${EDIT_ENTRIES_MAX} entries`
  const problem =
    brief.check(mutations) ??
    unseenProblem(mutations, brief) ??
    (brief.request === null ? knownProblem(mutations, brief, archive, evidence) : null)
  if (problem !== null) return problem
  return {
    mutations,
    design: excerpt(reply.design, DESIGN_CHARACTERS_MAX),
    reflection: excerpt(proseIn(text), REFLECTION_CHARACTERS_MAX),
    requires: needsIn(reply.requires).requires,
    parents: [],
  }
}

/** Updating an entry that was cut in the prompt would lose its middle. */
function unseenProblem(mutations: EditDraft['mutations'], { entries }: Brief): string | null {
  const cut = new Set(shownEntries(entries).flatMap(({ id, isWhole }) => (isWhole ? [] : [id])))
  return mutations.some(({ op, id }) => op === 'update' && cut.has(id))
    ? 'it replaces an entry that is too long to be shown whole; add another entry instead'
    : null
}

/** Refuses an idea that was already tried or rejected on this tree. Not used for a person's request. */
function knownProblem(
  mutations: EditDraft['mutations'],
  { entries, rejected }: Brief,
  archive: ReflectArchive,
  { candidates }: PromptEvidence,
): string | null {
  const words = editWords(mutations, entries)
  if (words.size === 0) return 'it changes nothing'
  const elsewhere = new Set(archive.candidates.filter(({ base }) => base !== archive.base).map(({ id }) => id))
  const turnedDown = rejected.filter((each) => !elsewhere.has(editId(each.mutations)))
  const isKnown = (other: { readonly mutations: EditDraft['mutations'] }): boolean => isSameIdea(words, editWords(other.mutations, entries))
  if (turnedDown.some(isKnown)) return 'it is all but the same as one that was turned down'
  return candidates.some(isKnown) ? 'it is all but the same as one that was tried already' : null
}

const proseIn = (text: string): string => (/^[^]*?(?=\[\s*\{)/.exec(text)?.[0] ?? '').replaceAll(/```\w*/g, '').trim()
