/** Reads a judge's reply strictly: one JSON object of the expected fields and nothing else. */
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'

export function gradeIn(reply: string): number | null {
  const score = verdictIn(reply, 'score')
  return typeof score === 'number' && score >= 0 && score <= 1 ? score : null
}

type Winner = 'A' | 'B' | 'tie'

export function winnerIn(reply: string): Winner | null {
  const winner = verdictIn(reply, 'winner')
  return winner === 'A' || winner === 'B' || winner === 'tie' ? winner : null
}

/** One code fence around the whole reply is allowed. */
const FENCED = /^```(?:json)?\s*\n([^`]*)\n```$/

function verdictIn(reply: string, field: string): Json | undefined {
  const text = reply.trim()
  const verdict = objectIn(FENCED.exec(text)?.[1] ?? text)
  const isAsked = verdict !== null && Object.keys(verdict).every((key) => key === field || key === 'reason')
  return isAsked ? verdict[field] : undefined
}

function objectIn(text: string): JsonObject | null {
  try {
    const value: Json = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
