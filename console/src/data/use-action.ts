/** Something that a person does: one at a time, with what came of it. A refusal is shown and may be answered by trying again. */
import { useState } from 'preact/hooks'
import { saidOf, type FailureNotice } from '../failure.ts'

interface Action {
  readonly isBusy: boolean
  readonly said: FailureNotice | null
  /** What was done; null before. */
  readonly done: string | null
  /** Does it, and says what `words` make of the answer. */
  readonly act: <T>(task: () => Promise<T>, words: (answer: T) => string | null) => Promise<void>
}

export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [said, setSaid] = useState<FailureNotice | null>(null)
  const [done, setDone] = useState<string | null>(null)
  const act: Action['act'] = async (task, words) => {
    setBusy(true)
    setSaid(null)
    setDone(null)
    try {
      setDone(words(await task()))
    } catch (error) {
      setSaid(saidOf(error))
    }
    setBusy(false)
  }
  return { isBusy, said, done, act }
}
