/** Asks for something again and again while it is looked at, one question at a time, and says what went wrong without forgetting what it knew. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { useSession } from './session.ts'
import { NO_ANSWER_YET, saidOf, type FailureNotice } from './failure.ts'

export interface Polled<T> {
  /** The newest answer; kept while later questions fail. */
  readonly value: T | null
  /** Why the newest question failed; null once one succeeds. */
  readonly said: FailureNotice | null
  readonly refresh: () => void
}

/** A request without an answer for so long is shown as failed; it is not given up. */
const LATE_SECONDS = 10

/** `key` names what is asked: when it changes, what was known is forgotten. Null seconds ask once. A hidden page asks nothing until it is seen. */
export function usePolled<T>(key: string, ask: () => Promise<T>, seconds: number | null): Polled<T> {
  const session = useSession()
  const [answer, setAnswer] = useState<{ readonly key: string; readonly value: T | null; readonly said: FailureNotice | null }>({
    key,
    value: null,
    said: null,
  })
  const [turn, setTurn] = useState(0)
  const asking = useRef(ask)
  asking.current = ask

  useEffect(() => {
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const begin = (): void => {
      if (document.hidden) document.addEventListener('visibilitychange', begin, { once: true })
      else void once()
    }
    const once = async (): Promise<void> => {
      const late = setTimeout(() => tell(NO_ANSWER_YET), LATE_SECONDS * 1000)
      try {
        const value = await asking.current()
        if (!isOver) setAnswer({ key, value, said: null })
      } catch (error) {
        const said = saidOf(error)
        if (!isOver && said.isSignedOut) session.end(said.line)
        tell(said)
      }
      clearTimeout(late)
      if (!isOver && seconds !== null) timer = setTimeout(begin, seconds * 1000)
    }
    const tell = (said: FailureNotice): void => {
      if (!isOver) setAnswer((known) => ({ key, value: known.key === key ? known.value : null, said }))
    }
    begin()
    return () => {
      isOver = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', begin)
    }
  }, [key, turn, seconds])

  const refresh = useCallback(() => setTurn((count) => count + 1), [])
  return answer.key === key ? { value: answer.value, said: answer.said, refresh } : { value: null, said: null, refresh }
}
