/** Instructions to lessons: which of the things it can be told the model has been told, and which of those it still has in mind. */
import type { Lesson, LessonName } from './lessons.ts'
import { HARMS, MENDS } from './lessons.ts'

/** A small model keeps this many different mending lessons in mind, the first ones it was told; the rest is read and forgotten. */
export const LESSONS_HELD_MAX = 8
/** A rule in a longer sentence than this is lost on it. */
const RULE_WORDS_MAX = 40
/** A prompt of more sentences is not read to its end. */
const SENTENCES_READ_MAX = 5000

/** The lessons of the text, in the order told, each once. */
export function lessonsIn(text: string): readonly LessonName[] {
  const told = new Set<LessonName>()
  for (const sentence of sentences(text).slice(0, SENTENCES_READ_MAX)) {
    for (const lesson of lessonsOf(sentence)) told.add(lesson)
  }
  return [...told]
}

/**
 * What the model has in mind: the mending lessons it was told first, as far as they fit, and whatever is fresh (the task itself, a
 * skill just read). Harmful ones are orders about manner, simple enough to stick wherever they stand.
 */
export function heldLessons(instructions: string, fresh: string): ReadonlySet<LessonName> {
  const told = lessonsIn(instructions)
  const kept = told.filter((name) => !isHarm(name)).slice(0, LESSONS_HELD_MAX)
  return new Set([...kept, ...told.filter(isHarm), ...lessonsIn(fresh)])
}

const isHarm = (name: LessonName): boolean => HARMS.some((harm) => harm.name === name)

export function sentences(text: string): readonly string[] {
  return text
    .split(/\n+|(?<=[.!?;])\s+/)
    .map((sentence) => sentence.replace(/^[\s>#*+-]+|^\s*\d+[.)]\s+/, '').trim())
    .filter((sentence) => sentence !== '')
}

function lessonsOf(sentence: string): readonly LessonName[] {
  const words = sentence.toLowerCase().replaceAll('’', "'")
  if (words.split(/\s+/).length > RULE_WORDS_MAX) return []
  const harms = HARMS.filter((harm) => teaches(harm, words) && (harm.name === 'no-tools' || !isProhibition(words)))
  const mends = MENDS.filter((mend) => teaches(mend, words))
  // 'Never use tools' also holds the words of 'use tools': the prohibition is what it says.
  const isAgainstTools = harms.some((harm) => harm.name === 'no-tools')
  return [...mends, ...harms].map((lesson) => lesson.name).filter((name) => !(isAgainstTools && name === 'use-tools'))
}

const teaches = (lesson: Lesson, words: string): boolean => lesson.rows.some((row) => row.every((pattern) => pattern.test(words)))

/** 'Do not round' is no advice to round. */
const isProhibition = (words: string): boolean => /\b(?:not|never|don't|avoid|no|instead of|rather than)\b/.test(words)
