/** Signing in: an open service needs no token, any other asks for one once. */
import { useEffect, useState } from 'preact/hooks'
import { ServiceFailure } from '@svc-ai/client'
import { saidOf, type FailureNotice } from './failure.ts'
import { serviceFor } from './session.ts'

export type SignInState =
  /** It is not known yet whether a token is needed. */
  | { readonly at: 'connecting'; readonly said: FailureNotice | null }
  /** A token is needed; the line says why the last one is not accepted. */
  | { readonly at: 'outside'; readonly line: string | null }
  | { readonly at: 'inside'; readonly token: string | null }

const RETRY_SECONDS = 2
const TIMEOUT_SECONDS = 10

export function useSignIn() {
  const [entry, setEntry] = useState<SignInState>({ at: 'connecting', said: null })
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (entry.at !== 'connecting') return undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async (): Promise<void> => {
      const next = await signIn(null)
      setEntry(next)
      if (next.at === 'connecting') timer = setTimeout(() => setTries(tries + 1), RETRY_SECONDS * 1000)
    }
    void ask()
    return () => clearTimeout(timer)
  }, [entry.at, tries])
  return {
    entry,
    /** Resolves with the line that says why not; null when it is accepted. */
    enter: async (token: string): Promise<string | null> => {
      const next = await signIn(token)
      if (next.at === 'inside') setEntry(next)
      return next.at === 'outside' ? next.line : next.at === 'connecting' ? (next.said?.line ?? null) : null
    },
    leave: (line: string | null): void => setEntry({ at: 'outside', line }),
  }
}

async function signIn(token: string | null): Promise<SignInState> {
  try {
    await serviceFor(token, { timeoutSeconds: TIMEOUT_SECONDS }).scenarios()
    return { at: 'inside', token }
  } catch (error) {
    // A malformed token is refused before it is sent.
    if (error instanceof ServiceFailure && error.code === 'bad_place') return { at: 'outside', line: error.message }
    const said = saidOf(error)
    if (!said.isSignedOut) return { at: 'connecting', said }
    return { at: 'outside', line: token === null ? null : said.line }
  }
}
