/** Signing in, and the session: the token a person typed is kept in memory alone and gone with the page. A person who signed in with an account has a cookie instead, which no script reads. An open service needs none. */
import { createContext } from 'preact'
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { connect, ServiceFailure, type Address, type NewToken, type Svc } from '@svc-ai/client'
import { saidOf, type FailureNotice } from './failure.ts'

export interface ConsoleSession {
  /** Null on a service that asks for none, and for a person who signed in. */
  readonly token: string | null
  /** Who signed in with an account; null for everybody else. */
  readonly person: string | null
  /** The service's routes, those of a scenario where one is named. */
  readonly service: (scenario?: string) => Svc
  /** Forgets the token and asks for one again, with a line that says why. */
  end(reason: string | null): void
  /** The same, because the person wants it: a sign-in is over then, in every copy of its cookie. */
  readonly signOut: () => Promise<void>
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
  | { readonly at: 'inside'; readonly token: string | null; readonly person: string | null }

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
    session: useSessionOf(entry.at === 'inside' ? entry : NOBODY, setEntry),
  }
}

const NOBODY = { token: null, person: null }

function useSessionOf({ token, person }: Pick<ConsoleSession, 'token' | 'person'>, setEntry: (entry: SignInState) => void): ConsoleSession {
  const newest = useRef(token)
  newest.current = token
  const isRenewing = useRef(false)
  return useMemo<ConsoleSession>(
    () => ({
      token,
      person,
      service: (scenario) => serviceFor(token, { scenario: scenario ?? null }),
      // A question of before may be refused late: the old secret is, from the moment there is a new one.
      end: (line) => {
        if (!isRenewing.current && newest.current === token)
          setEntry({ at: 'outside', line: person === null ? line : 'Your sign-in is over. Sign in again.' })
      },
      signOut: async () => {
        // What the service says of a sign-in that is over already changes nothing.
        if (person !== null)
          await serviceFor(null, { timeoutSeconds: TIMEOUT_SECONDS })
            .signOut()
            .catch(() => undefined)
        setEntry({ at: 'outside', line: null })
      },
      renew: async (rotate) => {
        isRenewing.current = true
        try {
          const made = await rotate()
          if (token !== null && (await signIn(token)).at === 'outside') {
            newest.current = made.token
            setEntry({ at: 'inside', token: made.token, person: null })
          }
          return made
        } finally {
          isRenewing.current = false
        }
      },
    }),
    [token, person],
  )
}

async function signIn(token: string | null): Promise<SignInState> {
  try {
    const service = serviceFor(token, { timeoutSeconds: TIMEOUT_SECONDS })
    await service.scenarios()
    const caller = token === null ? await service.caller() : null
    return { at: 'inside', token, person: caller?.kind === 'person' ? caller.name : null }
  } catch (error) {
    // A malformed token is refused before it is sent.
    if (error instanceof ServiceFailure && error.code === 'bad_place') return { at: 'outside', line: error.message }
    const said = saidOf(error)
    if (!said.isSignedOut) return { at: 'connecting', said }
    return { at: 'outside', line: token === null ? null : said.line }
  }
}
