/** The sign-in page: leads to the accounts of the company where there are some, asks for the token, or says that the service does not answer. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { SignInOffer } from '@svc-ai/client'
import icon from '../../icon.svg'
import { serviceFor, type SignInState } from '../../session.ts'
import './sign-in.css'

interface SignInProps {
  readonly entry: Exclude<SignInState, { readonly at: 'inside' }>
  /** Resolves with the line that says why not; null when it is accepted. */
  readonly onToken: (token: string) => Promise<string | null>
}

export function SignIn({ entry, onToken }: SignInProps) {
  return (
    <main class="sign-in">
      <div class="sign-in-box">
        <img src={icon} alt="" width="40" height="40" />
        <h1>svc console</h1>
        {entry.at === 'outside' ? (
          <>
            <AccountWay />
            <TokenForm line={entry.line} onToken={onToken} />
          </>
        ) : (
          <p role="status">{entry.said?.line ?? 'Connecting …'}</p>
        )}
      </div>
    </main>
  )
}

/** Nothing until the service said that there is such a way. It leads back to where one was. */
function AccountWay() {
  const [offer, setOffer] = useState<SignInOffer['sign_in']>(null)
  useEffect(() => {
    let isOver = false
    serviceFor(null)
      .signInOffer()
      .then(
        (found) => isOver || setOffer(found),
        () => undefined,
      )
    return () => {
      isOver = true
    }
  }, [])
  if (offer === null) return null
  const query = new URLSearchParams({ return_to: `/console${location.hash}` })
  return (
    <>
      <a class="button primary" href={`${offer.start_url}?${query.toString()}`}>
        Sign in with {offer.name}
      </a>
      <p class="muted small">Or with a token:</p>
    </>
  )
}

function TokenForm({ line, onToken }: { readonly line: string | null; readonly onToken: SignInProps['onToken'] }) {
  const [problem, setProblem] = useState(line)
  const [isAsking, setAsking] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const enter = async (token: string): Promise<void> => {
    setAsking(true)
    setProblem(await onToken(token))
    setAsking(false)
    field.current?.select()
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        const token = field.current?.value.trim() ?? ''
        if (token !== '' && !isAsking) void enter(token)
      }}
    >
      <label class="field">
        <span>Service token</span>
        <input ref={field} type="password" required autofocus autocomplete="off" spellcheck={false} aria-describedby="token-about" />
      </label>
      {problem !== null && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
      <button class="button primary" disabled={isAsking}>
        Sign in
      </button>
      <p id="token-about" class="muted small">
        One that <code>svc.token</code> or <code>svc.tokens</code> lists. It is kept in the memory of this page alone. A service without
        tokens asks for one too when its page is opened under a name that is not its own: open it at its address, or list the name in{' '}
        <code>svc.console_origins</code>.
      </p>
    </form>
  )
}
