/** Asks once more before something changes: what exactly will happen, and what came of it when it did not. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { saidOf, type FailureNotice } from '../failure.ts'
import { Notice } from './notice.tsx'

interface ConfirmProps {
  readonly title: string
  readonly verb: string
  readonly children: ComponentChildren
  /** False while something is missing that a person has to write. */
  readonly isReady?: boolean
  /** Does it. A refusal is shown, and may be answered by trying again. */
  readonly act: () => Promise<void>
  /** Nothing was done, or everything was. */
  readonly close: () => void
}

/** Open as long as it is on the page. The focus goes back to where it came from. */
export function Confirm({ title, verb, children, isReady = true, act, close }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [isActing, setActing] = useState(false)
  const [said, setSaid] = useState<FailureNotice | null>(null)
  useEffect(() => {
    const [element, before] = [dialog.current, document.activeElement]
    element?.showModal()
    return () => {
      element?.close()
      // A dialog that leaves the page with its view gives nothing back by itself.
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  const go = async (): Promise<void> => {
    setActing(true)
    setSaid(null)
    try {
      await act()
      close()
    } catch (error) {
      setSaid(saidOf(error))
      setActing(false)
    }
  }
  const cancel = (event: Event): void => {
    event.preventDefault()
    if (!isActing) close()
  }
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onCancel={cancel}>
      <div class="stack">
        <h2 id="confirm-title">{title}</h2>
        <div class="stack tight">{children}</div>
        <Notice said={said} />
        <div class="row">
          <span class="spring" />
          <button type="button" class="button" disabled={isActing} onClick={close}>
            Cancel
          </button>
          <button type="button" class="button primary" disabled={isActing || !isReady} onClick={() => void go()}>
            {isActing ? 'Working …' : verb}
          </button>
        </div>
      </div>
    </dialog>
  )
}
