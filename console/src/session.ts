/** Signing in, and the session: the token a person typed is kept in memory alone and gone with the page. An open service needs none. */
import { createContext } from 'preact'
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { connect, ServiceFailure, type Address, type NewToken, type Svc } from '@svc-ai/client'
import { saidOf, type FailureNotice } from './failure.ts'

export interface ConsoleSession {
  /** Null on a service that asks for none. */
  readonly token: string | null
  /** The service's routes, those of a scenario where one is named. */
  readonly service: (scenario?: string) => Svc
  /** Forgets the token and asks for one again, with a line that says why. */
  end(reason: string | null): void
  /** Gives a token another secret. Where it is the token of this session, the session goes on with the new one, which nobody else has seen. */
  readonly renew: (rotate: () => Promise<NewToken>) => Promise<NewToken>
}

const SessionContext = createContext<ConsoleSession | null>(null)
export const SessionProvider = SessionContext.Provider

export function useSession(): ConsoleSession {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('a view was shown before the sign-in')
  return session
}

export function serviceFor(token: string | null, more: Pick<Address, 'scenario' | 'timeoutSeconds'> = {}): Svc {
  return connect({ url: location.origin, token, ...more })
}

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
    session: useSessionOf(entry.at === 'inside' ? entry.token : null, setEntry),
  }
}

function useSessionOf(token: string | null, setEntry: (entry: SignInState) => void): ConsoleSession {
  const newest = useRef(token)
  newest.current = token
  const isRenewing = useRef(false)
  return useMemo<ConsoleSession>(
    () => ({
      token,
      service: (scenario) => serviceFor(token, { scenario: scenario ?? null }),
      // A question of before may be refused late: the old secret is, from the moment there is a new one.
      end: (line) => {
        if (!isRenewing.current && newest.current === token) setEntry({ at: 'outside', line })
      },
      renew: async (rotate) => {
        isRenewing.current = true
        try {
          const made = await rotate()
          if (token !== null && (await signIn(token)).at === 'outside') {
            newest.current = made.token
            setEntry({ at: 'inside', token: made.token })
          }
          return made
        } finally {
          isRenewing.current = false
        }
      },
    }),
    [token],
  )
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
