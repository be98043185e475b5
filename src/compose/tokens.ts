/** Opens the tokens of the store: they are in force in this thread and in the listener threads, now and whenever they change. */
import { TokenBook, type TokenBookNeeds } from '../access/index.ts'
import type { StoredToken } from '../contract/index.ts'
import type { TrafficServices } from '../http/index.ts'
import { clock } from './traffic.ts'

interface OpenTokens extends Pick<TokenBookNeeds, 'store' | 'warn'>, Pick<TrafficServices, 'auth'> {
  /** Null where this thread accepts the connections itself. */
  readonly listeners: { useTokens(tokens: readonly StoredToken[]): void; settled(): Promise<void> } | null
}

export function openTokens({ store, auth, listeners, warn }: OpenTokens): Promise<TokenBook> {
  return TokenBook.open({
    store,
    clock,
    use(tokens) {
      auth.use(tokens)
      listeners?.useTokens(tokens)
    },
    taken: async () => listeners?.settled(),
    warn,
  })
}
