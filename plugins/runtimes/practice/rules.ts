/** From instructions to lessons: which lessons the model was taught, and which of those it still holds. */
import { HARMS, FIXES, type Lesson, type LessonName } from './lessons.ts'

/** A small model holds this many fixing lessons, the first ones it was taught; it forgets the rest. */
export const LESSONS_HELD_MAX = 8
/** A rule in a longer sentence has no effect. */
const RULE_WORDS_MAX = 40
/** A prompt of more sentences is not read to its end. */
const SENTENCES_READ_MAX = 5000

/** The lessons of the text in their order, each once. */
export function lessonsIn(text: string): readonly LessonName[] {
  const taught = new Set<LessonName>()
  for (const sentence of sentences(text).slice(0, SENTENCES_READ_MAX)) {
    for (const lesson of lessonsOf(sentence)) taught.add(lesson)
  }
  return [...taught]
}

/** The first fixing lessons as far as they fit, all harmful ones, and those of fresh text (the task itself, a skill just read). */
export function heldLessons(instructions: string, fresh: string): ReadonlySet<LessonName> {
  const taught = lessonsIn(instructions)
  const kept = taught.filter((name) => !isHarm(name)).slice(0, LESSONS_HELD_MAX)
  return new Set([...kept, ...taught.filter(isHarm), ...lessonsIn(fresh)])
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
  const fixes = FIXES.filter((fix) => teaches(fix, words))
  // 'Never use tools' also holds the words of 'use tools': the prohibition is what it says.
  const isAgainstTools = harms.some((harm) => harm.name === 'no-tools')
  return [...fixes, ...harms].map((lesson) => lesson.name).filter((name) => !(isAgainstTools && name === 'use-tools'))
}

const teaches = (lesson: Lesson, words: string): boolean => lesson.rows.some((row) => row.every((pattern) => pattern.test(words)))

/** 'Do not round' is no advice to round. */
const isProhibition = (words: string): boolean => /\b(?:not|never|don't|avoid|no|instead of|rather than)\b/.test(words)
