/** A line for a terminal, copied with one press. */
import { useState } from 'preact/hooks'
import { Text } from './text.tsx'
import './command.css'

export function Command({ line }: { readonly line: string }) {
  const [state, setState] = useState('Copy')
  const copyIt = async (): Promise<void> => setState((await copy(line)) ? 'Copied' : 'Not copied')
  return (
    <div class="command">
      <code>
        <Text value={line} />
      </code>
      <button type="button" class="button small" aria-label={state === 'Copy' ? 'Copy the command' : state} onClick={() => void copyIt()}>
        {state}
      </button>
    </div>
  )
}

/** Puts a text on the clipboard; answers whether it is there. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Browsers give the clipboard to pages of https and of this machine alone; everywhere else the old way is the one there is.
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const place = document.createElement('textarea')
  place.value = text
  place.className = 'hidden-visually'
  document.body.append(place)
  place.select()
  const isCopied = document.execCommand('copy')
  place.remove()
  return isCopied
}
