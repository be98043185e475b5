/** An id: short, in full when pointed at, and copied with one press. */
import { useEffect, useState } from 'preact/hooks'
import { copy } from './command.tsx'
import { visible } from './visible.ts'

const COPIED_SHOWN_MS = 1500

interface IdProps {
  readonly value: string
  readonly href?: string
  readonly full?: boolean
}

export function Id({ value, href, full = false }: IdProps) {
  const [state, setState] = useState('')
  useEffect(() => {
    if (state === '') return undefined
    const timer = setTimeout(() => setState(''), COPIED_SHOWN_MS)
    return () => clearTimeout(timer)
  }, [state])
  const shown = visible(full ? value : shortId(value))
  const copyIt = async (): Promise<void> => setState((await copy(value)) ? 'Copied' : 'Not copied')
  return (
    <span class="id">
      {href === undefined ? (
        <bdi title={visible(value)}>{shown}</bdi>
      ) : (
        <a href={href} title={visible(value)}>
          <bdi>{shown}</bdi>
        </a>
      )}
      <button type="button" onClick={() => void copyIt()} title={state || 'Copy'} aria-label={`Copy ${shown}`}>
        <svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">
          {state === 'Copied' ? <path d="m3 8.500 3.500 3.500L13 4.500" /> : <path d="M6 6V3.500h6.500V10H10M3.500 6H10v6.500H3.500z" />}
        </svg>
      </button>
      {state !== '' && (
        <span class="hidden-visually" role="status">
          {state}
        </span>
      )}
    </span>
  )
}

const SHORT_ENOUGH = 14
const SHA_CHARACTERS = 10
const END_CHARACTERS = 6

/** A release is known by how its hash begins. Receipts begin with their time, so that neighbours differ at the end alone. */
export function shortId(id: string): string {
  if (id.length <= SHORT_ENOUGH) return id
  if (/^[0-9a-f]{40,64}$/.test(id)) return id.slice(0, SHA_CHARACTERS)
  return `${id.slice(0, END_CHARACTERS)}…${id.slice(-END_CHARACTERS)}`
}
