/** Polls the service while the page is looked at, one request at a time. A failure is shown, and the last answer is kept. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { useSession, type ConsoleSession } from './session.ts'
import { NO_ANSWER_YET, saidOf, type FailureNotice } from './failure.ts'

export interface Polled<T> {
  /** The newest answer; kept while later questions fail. */
  readonly value: T | null
  /** Why the newest question failed; null once one succeeds. */
  readonly said: FailureNotice | null
  /** Asks now. It resolves once that question is answered, well or not. */
  readonly refresh: () => Promise<void>
}

/** A request without an answer for so long is shown as failed; it is not given up. */
const LATE_SECONDS = 10

/** `key` names what is asked: when it changes, what was known is forgotten. Null seconds ask once. A hidden page asks nothing until it is seen. */
export function usePolled<T>(key: string, ask: (service: ConsoleSession['service']) => Promise<T>, seconds: number | null): Polled<T> {
  const session = useSession()
  const [answer, setAnswer] = useState<{ readonly key: string; readonly value: T | null; readonly said: FailureNotice | null }>({
    key,
    value: null,
    said: null,
  })
  const [turn, setTurn] = useState(0)
  const waiting = useRef<(() => void)[]>([])
  const asking = useRef({ ask, session })
  asking.current = { ask, session }

  useEffect(() => {
    let isOver = false
    const told = waiting.current.splice(0)
    let timer: ReturnType<typeof setTimeout> | undefined
    const begin = (): void => {
      if (document.hidden) document.addEventListener('visibilitychange', begin, { once: true })
      else void once()
    }
    const once = async (): Promise<void> => {
      const late = setTimeout(() => showFailure(NO_ANSWER_YET), LATE_SECONDS * 1000)
      const { ask: askNow, session: asked } = asking.current
      try {
        const value = await askNow(asked.service)
        if (!isOver) setAnswer({ key, value, said: null })
      } catch (error) {
        const said = saidOf(error)
        if (!isOver && said.isSignedOut) asked.end(said.line)
        showFailure(said)
      }
      clearTimeout(late)
      if (!isOver) for (const tell of told.splice(0)) tell()
      if (!isOver && seconds !== null) timer = setTimeout(begin, seconds * 1000)
    }
    const showFailure = (said: FailureNotice): void => {
      if (!isOver) setAnswer((known) => ({ key, value: known.key === key ? known.value : null, said }))
    }
    begin()
    return () => {
      isOver = true
      waiting.current.push(...told)
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', begin)
    }
  }, [key, turn, seconds])

  const refresh = useCallback(
    (): Promise<void> =>
      new Promise((tell) => {
        waiting.current.push(tell)
        setTurn((count) => count + 1)
      }),
    [],
  )
  return answer.key === key ? { value: answer.value, said: answer.said, refresh } : { value: null, said: null, refresh }
}
