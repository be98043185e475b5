/** Whether somebody is inside: an open service lets anybody in without a question, any other asks for a token once. */
import { useEffect, useState } from 'preact/hooks'
import { ServiceFailure } from '@svc-ai/client'
import { saidOf, type Said } from './failure.ts'
import { serviceFor } from './session.ts'

export type Entry =
  /** Nobody knows yet whether a token is needed. */
  | { readonly at: 'door'; readonly said: Said | null }
  /** A token is needed; the line says why the one before is no more. */
  | { readonly at: 'outside'; readonly line: string | null }
  | { readonly at: 'inside'; readonly token: string | null }

const KNOCK_AGAIN_SECONDS = 2
/** Behind a door there is nothing to look at meanwhile. */
const KNOCK_SECONDS_MAX = 10

export function useEntry() {
  const [entry, setEntry] = useState<Entry>({ at: 'door', said: null })
  const [knocks, setKnocks] = useState(0)
  useEffect(() => {
    if (entry.at !== 'door') return undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async (): Promise<void> => {
      const next = await knock(null)
      setEntry(next)
      if (next.at === 'door') timer = setTimeout(() => setKnocks(knocks + 1), KNOCK_AGAIN_SECONDS * 1000)
    }
    void ask()
    return () => clearTimeout(timer)
  }, [entry.at, knocks])
  return {
    entry,
    /** Resolves with the line that says why not; null when it is accepted. */
    enter: async (token: string): Promise<string | null> => {
      const next = await knock(token)
      if (next.at === 'inside') setEntry(next)
      return next.at === 'outside' ? next.line : next.at === 'door' ? (next.said?.line ?? null) : null
    },
    leave: (line: string | null): void => setEntry({ at: 'outside', line }),
  }
}

async function knock(token: string | null): Promise<Entry> {
  try {
    await serviceFor(token, { timeoutSeconds: KNOCK_SECONDS_MAX }).scenarios()
    return { at: 'inside', token }
  } catch (error) {
    // What no token can be is told before it is sent.
    if (error instanceof ServiceFailure && error.code === 'bad_place') return { at: 'outside', line: error.message }
    const said = saidOf(error)
    if (!said.isSignedOut) return { at: 'door', said }
    return { at: 'outside', line: token === null ? null : said.line }
  }
}
