/** A line for a terminal, copied with one press. */
import { useState } from 'preact/hooks'
import { copy } from './copy.ts'
import { Text } from './text.tsx'
import './command.css'

export function Command({ line }: { readonly line: string }) {
  const [told, setTold] = useState('Copy')
  const copyIt = async (): Promise<void> => setTold((await copy(line)) ? 'Copied' : 'Not copied')
  return (
    <div class="command">
      <code>
        <Text value={line} />
      </code>
      <button type="button" class="button small" aria-label={told === 'Copy' ? 'Copy the command' : told} onClick={() => void copyIt()}>
        {told}
      </button>
    </div>
  )
}
