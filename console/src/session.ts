/** Who is looking: the token a person typed, kept in memory alone and gone with the page. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { connect, type Address, type Svc } from '@svc-ai/client'

export interface ConsoleSession {
  /** Null on a service that asks for none. */
  readonly token: string | null
  /** The service's routes, those of a scenario where one is named. */
  service(scenario?: string): Svc
  /** Forgets the token and asks for one again, with a line that says why. */
  end(reason: string | null): void
}

const SessionContext = createContext<ConsoleSession | null>(null)
export const SessionProvider = SessionContext.Provider

export function useSession(): ConsoleSession {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('a view was shown before anybody signed in')
  return session
}

export function serviceFor(token: string | null, more: Pick<Address, 'scenario' | 'timeoutSeconds'> = {}): Svc {
  return connect({ url: location.origin, token, ...more })
}
