/** What the keys do. */
import { useEffect, useRef } from 'preact/hooks'

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['g', 's'], 'All scenarios'],
  [['g', 't'], 'Traffic'],
  [['g', 'r'], 'Releases'],
  [['g', 'a'], 'Ask for a change'],
  [['g', 'n'], 'Training'],
  [['g', 'o'], 'Storage'],
  [['/'], 'Filter, or go to a record'],
  [['j', 'k'], 'Down and up in a list; the arrows too'],
  [['Enter'], 'Open'],
  [['Esc'], 'Back, or close'],
  [['p'], 'Pause the traffic'],
  [['?'], 'These keys'],
]

/** Closed as a dialog before it leaves the page, so that the focus goes back to where it was. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const close = (): void => dialog.current?.close()
  return (
    <dialog
      ref={dialog}
      class="key-help"
      aria-labelledby="key-help-title"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div class="row">
        <h2 id="key-help-title">Keys</h2>
        <span class="spring" />
        <button type="button" class="button small" onClick={close}>
          Close
        </button>
      </div>
      <dl>
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  )
}
