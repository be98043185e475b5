/** What a person's action came to: a refusal, or a line that says what was done. */
import type { FailureNotice } from '../failure.ts'
import { Notice } from './notice.tsx'
import { Text } from './text.tsx'

export function Done({ said, done }: { readonly said: FailureNotice | null; readonly done: string | null }) {
  return (
    <>
      <Notice said={said} />
      <p class={done === null ? 'hidden-visually' : 'notice good'} role="status">
        {done !== null && <Text value={done} />}
      </p>
    </>
  )
}
