/** Asks the model for one edit, and again with the reason as long as it answers what cannot be used or is known already. */
import type { Brief, ChatMessage, Model } from '../../../src/contract/index.ts'
import { mutationsOf, needsIn, replyIn } from '../../../src/evolution/index.ts'
import { editId, type Archive } from './archive.ts'
import type { Draft } from './draft.ts'
import { excerpt } from './excerpt.ts'
import { EDIT_ENTRIES_MAX, messagesFor, shownEntries, type Evidence } from './prompt.ts'
import { editWords, isSameIdea } from './words.ts'

const ASKS_MAX = 3
const ANSWER_TOKENS_MAX = 16_384
const ANSWER_TIMEOUT_SECONDS = 300
const REPLY_CHARACTERS_SHOWN = 4000
const REFLECTION_CHARACTERS_MAX = 2000
const DESIGN_CHARACTERS_MAX = 4000

/** A draft that fits the tree and is new, or null. Throws when the model never answered; one that falls silent later has no more to say. */
export async function ask(brief: Brief, model: Model, archive: Archive, evidence: Evidence): Promise<Draft | null> {
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

/** What the reply proposes, or why that is of no use. */
function draftIn(text: string, brief: Brief, archive: Archive, evidence: Evidence): Draft | string {
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

/** The middle that was left out of the prompt would be lost. */
function unseenProblem(mutations: Draft['mutations'], { entries }: Brief): string | null {
  const cut = new Set(shownEntries(entries).flatMap(({ id, isWhole }) => (isWhole ? [] : [id])))
  return mutations.some(({ op, id }) => op === 'update' && cut.has(id))
    ? 'it replaces an entry that is too long to be shown whole; add another entry instead'
    : null
}

/** A person may ask for what was turned down before; nobody else is heard twice with the same idea on the same tree. */
function knownProblem(
  mutations: Draft['mutations'],
  { entries, rejected }: Brief,
  archive: Archive,
  { candidates }: Evidence,
): string | null {
  const words = editWords(mutations, entries)
  if (words.size === 0) return 'it changes nothing'
  const elsewhere = new Set(archive.candidates.filter(({ base }) => base !== archive.base).map(({ id }) => id))
  const turnedDown = rejected.filter((each) => !elsewhere.has(editId(each.mutations)))
  const isKnown = (other: { readonly mutations: Draft['mutations'] }): boolean => isSameIdea(words, editWords(other.mutations, entries))
  if (turnedDown.some(isKnown)) return 'it is all but the same as one that was turned down'
  return candidates.some(isKnown) ? 'it is all but the same as one that was tried already' : null
}

/** What stands before the array. */
const proseIn = (text: string): string => (/^[^]*?(?=\[\s*\{)/.exec(text)?.[0] ?? '').replaceAll(/```\w*/g, '').trim()
