/** A dialog that is open as long as it is shown. Escape and a click beside it close it, and the focus goes back to where it was. */
import { useEffect, useRef } from 'preact/hooks'

export function useModal(onClose: () => void) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const close = (): void => {
    dialog.current?.close()
    onClose()
  }
  const props = {
    ref: dialog,
    // The browser says that a dialog was closed a moment later. By then a key may have opened it anew.
    onClose: (event: Event): void => {
      if (event.currentTarget instanceof HTMLElement && event.currentTarget.isConnected) onClose()
    },
    onClick: (event: Event): void => {
      if (event.target === dialog.current) close()
    },
    onKeyDown: (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.isComposing) return
      event.preventDefault()
      close()
    },
  }
  return { close, props }
}
