/** Counting tokens without a vocabulary: a word costs one token per four characters, a sign costs one; the same count everywhere. */
import type { Prompt, PromptTurn } from './prompt.ts'

const CHARACTERS_PER_TOKEN = 4
/** What a provider adds around every message for its role and borders. */
const TOKENS_PER_TURN = 4
const TOKENS_PER_TOOL = 8

/** Words, numbers and signs, each with the white space before it; together they are the text again. */
const pieces = (text: string): readonly string[] => text.match(/\s*(?:[\p{L}\p{M}]+|\p{N}+|[^\s\p{L}\p{M}\p{N}])|\s+/gu) ?? []

const tokensOfPiece = (piece: string): number => Math.max(1, Math.ceil(piece.trim().length / CHARACTERS_PER_TOKEN))

export function countTokens(text: string): number {
  let tokens = 0
  for (const piece of pieces(text)) tokens += tokensOfPiece(piece)
  return tokens
}

export function firstTokens(text: string, tokensMax: number): string {
  let kept = ''
  let tokens = 0
  for (const piece of pieces(text)) {
    tokens += tokensOfPiece(piece)
    if (tokens > tokensMax) return kept
    kept += piece
  }
  return kept
}

export function promptTokens(prompt: Prompt): number {
  const turns = prompt.turns.reduce((sum, turn) => sum + TOKENS_PER_TURN + turnTokens(turn), 0)
  const tools = prompt.tools.reduce(
    (sum, tool) => sum + TOKENS_PER_TOOL + countTokens(`${tool.name} ${tool.description} ${JSON.stringify(tool.parameters)}`),
    0,
  )
  return turns + tools
}

/** What a small image costs; its size is not read. */
const TOKENS_PER_IMAGE = 256

function turnTokens(turn: PromptTurn): number {
  if (turn.role === 'tool') return countTokens(turn.text)
  const texts = turn.texts.reduce((sum, text) => sum + countTokens(text), 0)
  if (turn.role === 'user') return texts + turn.images * TOKENS_PER_IMAGE
  if (turn.role === 'assistant') return texts + turn.calls.reduce((sum, call) => sum + countTokens(call.name) + countTokens(call.input), 0)
  return texts
}

/** The text in the pieces a stream sends it in: by words, white space kept. */
export const streamPieces = (text: string): readonly string[] => text.match(/\s*\S+(?:\s+$)?|\s+/g) ?? []
