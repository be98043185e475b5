/** The facts of an exchange in the lists, in words. */
import { duration, whole } from '../../presentation/index.ts'
import type { RecordRow } from '@svc-ai/client'
import { oneLine } from '../screen/text.ts'

export const tookOf = ({ summary }: RecordRow): string => (summary === undefined ? '' : duration(summary.latency_ms / 1000))

/** A stream that broke off was stored as far as it came. */
export function modelOf({ summary }: RecordRow): string {
  return [oneLine(summary?.model ?? ''), ...(summary?.complete === false ? ['(broken off)'] : [])].join(' ').trim()
}

/** What went in, and what came out. */
export function tokensOf({ summary }: RecordRow): string {
  const { input_tokens: input, output_tokens: output } = summary ?? {}
  if (input === undefined && output === undefined) return ''
  return `${input === undefined ? '?' : whole(input)} → ${output === undefined ? '?' : whole(output)}`
}
