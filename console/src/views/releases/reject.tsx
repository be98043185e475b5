/** Rejects a release that is held for review: a dialog asks why, since the next proposer learns from it. */
import { useId, useState } from 'preact/hooks'
import { useSession } from '../../session.ts'
import { Confirm } from '../../ui/confirm.tsx'
import type { ChainStep } from '../../data/chain.ts'

interface RejectProps {
  readonly scenario: string
  readonly step: ChainStep
  readonly done: (line: string) => void
}

export function RejectButton({ scenario, step, done }: RejectProps) {
  const session = useSession()
  const field = useId()
  const [isAsked, setAsked] = useState(false)
  const [reason, setReason] = useState('')
  const act = async (): Promise<void> => {
    await session.service(scenario).reject(step.row.release_id, reason)
    done(`${step.name} is rejected. What is served stays.`)
  }
  return (
    <>
      <button type="button" class="button small" onClick={() => setAsked(true)}>
        Reject<span class="hidden-visually"> {step.name}</span>
      </button>
      {isAsked && (
        <Confirm
          title={`Reject ${step.name}?`}
          verb={`Reject ${step.name}`}
          isReady={reason.trim() !== ''}
          act={act}
          close={() => setAsked(false)}
        >
          <p>It is not served, and its content comes back only where a person asks for it. What is served stays.</p>
          <label for={field}>Why? The reason is shown with the release, and the next proposer is told.</label>
          <textarea
            id={field}
            rows={3}
            maxLength={REASON_CHARACTERS_MAX}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </Confirm>
      )}
    </>
  )
}

/** As the service takes it. */
const REASON_CHARACTERS_MAX = 2000
