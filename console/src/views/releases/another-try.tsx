/** Asks for another try of a change that came to nothing: a dialog takes what should be different, and the new request is followed. */
import { useId, useMemo, useState } from 'preact/hooks'
import { anotherTry, anotherTryText } from '../../../../src/presentation/index.ts'
import type { StepProps } from '../../data/chain.ts'
import { freshId } from '../../data/requests.ts'
import { go, placeIn } from '../../route.ts'
import { useSession } from '../../session.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { LongText } from '../../ui/text.tsx'

/** Nothing where there is nothing to try again. */
export function AnotherTryButton({ scenario, chain, step }: StepProps) {
  const session = useSession()
  const field = useId()
  const [isAsked, setAsked] = useState(false)
  const [words, setWords] = useState('')
  // Sent again after an answer that was lost, the same request is kept once.
  const id = useMemo(freshId, [words])
  const about = anotherTry(chain.rows, step.row)
  const { head } = chain
  if (about === null || head === null) return null
  const act = async (): Promise<void> => {
    const text = anotherTryText(about, words, step.row)
    const request = { text, session: freshId(), release_id: head.row.release_id, agent_record_id: id }
    const receipt = await session.service(scenario).train(request)
    go(placeIn(scenario, 'ask', receipt.agent_record_id))
  }
  return (
    <>
      <button type="button" class="button small" onClick={() => setAsked(true)}>
        Another try<span class="hidden-visually"> at {step.name}</span>
      </button>
      {isAsked && (
        <Confirm title={`Ask for another try at ${step.name}?`} verb="Ask for another try" act={act} close={() => setAsked(false)}>
          <p>A new request is filed, about what is served now. It says:</p>
          <blockquote class="quote">
            <LongText value={about} />
          </blockquote>
          <label for={field}>What should be different this time? It may be left empty.</label>
          <textarea
            id={field}
            rows={3}
            maxLength={WORDS_CHARACTERS_MAX}
            value={words}
            onInput={({ currentTarget }) => setWords(currentTarget.value)}
          />
        </Confirm>
      )}
    </>
  )
}

const WORDS_CHARACTERS_MAX = 2000
