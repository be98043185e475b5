/** Opens the tokens of the store, which are in force in this thread and in the listener threads, now and whenever they change; and the sign-in for people. */
import { TokenBook, type TokenBookNeeds } from '../access/index.ts'
import type { StoredToken } from '../contract/index.ts'
import type { LoadedConfig } from '../config/index.ts'
import type { SignInDesk, TrafficServices } from '../http/index.ts'
import { openSignIn } from './sign-in.ts'
import { clock } from './traffic.ts'

interface OpenTokens extends Pick<TokenBookNeeds, 'store' | 'warn'>, Pick<TrafficServices, 'auth'> {
  readonly loaded: LoadedConfig
  /** Null where this thread accepts the connections itself. */
  readonly listeners: { useTokens(tokens: readonly StoredToken[]): void; settled(): Promise<void> } | null
}

export async function openTokens({
  loaded,
  store,
  auth,
  listeners,
  warn,
}: OpenTokens): Promise<{ readonly tokens: TokenBook; readonly desk: SignInDesk | null }> {
  const tokens = await TokenBook.open({
    store,
    clock,
    use(stored) {
      auth.use(stored)
      listeners?.useTokens(stored)
    },
    taken: async () => listeners?.settled(),
    warn,
  })
  return { tokens, desk: openSignIn(loaded, warn) }
}
