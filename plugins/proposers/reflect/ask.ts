/** Asks the model for one edit, and again with the reason when the edit is invalid or not new. */
import type { Brief, ChatMessage, Model } from '../../../src/contract/index.ts'
import { mutationsOf, needsIn, replyIn } from '../../../src/evolution/index.ts'
import { editId, type ReflectArchive } from './archive.ts'
import type { EditDraft } from './draft.ts'
import { excerpt } from './excerpt.ts'
import { EDIT_ENTRIES_MAX, messagesFor, shownEntries, type PromptEvidence } from './prompt.ts'
import { editWords, isSameIdea } from './words.ts'

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
      { role: 'assistant', content: excerpt(text, REPLY_CHARACTERS_SHOWN) },
      { role: 'user', content: `That edit is not used: ${draft}. Propose another, in the same form (try ${asked + 1}).` },
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
