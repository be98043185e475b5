/** A line for a terminal, copied with one press. */
import { useState } from 'preact/hooks'
import { copy } from './copy.ts'
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
