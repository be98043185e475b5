/** The box a request is written in. */
import { whole } from '../../../../src/presentation/index.ts'
import { useMemo, useState } from 'preact/hooks'
import { saidOf, type FailureNotice } from '../../failure.ts'
import { useSession } from '../../session.ts'
import { Id } from '../../ui/id.tsx'
import { Notice } from '../../ui/notice.tsx'
import type { ChainStep } from '../../data/chain.ts'
import { charactersIn, freshId, REQUEST_CHARACTERS_MAX } from '../../data/requests.ts'

interface AskBoxProps {
  readonly scenario: string
  /** What the request is about. */
  readonly head: ChainStep
  readonly sent: (requestId: string) => void
}

/** All requests of one page come from one session. */
const SESSION = freshId()

export function AskBox({ scenario, head, sent }: AskBoxProps) {
  const session = useSession()
  const [text, setText] = useState('')
  const [isSending, setSending] = useState(false)
  const [said, setSaid] = useState<FailureNotice | null>(null)
  const releaseId = head.row.release_id
  // Sent again after an answer that was lost, the same request is kept once.
  const id = useMemo(freshId, [text, releaseId])
  const characters = charactersIn(text)
  const isSendable = text.trim() !== '' && characters <= REQUEST_CHARACTERS_MAX && !isSending
  const send = async (): Promise<void> => {
    setSending(true)
    setSaid(null)
    try {
      const receipt = await session.service(scenario).train({ text, session: SESSION, release_id: releaseId, agent_record_id: id })
      setText('')
      sent(receipt.agent_record_id)
    } catch (error) {
      setSaid(saidOf(error))
    } finally {
      setSending(false)
    }
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    if (isSendable) void send()
  }
  return (
    <form class="card stack tight" onSubmit={submit}>
      <label class="field" for="ask-text">
        <span>What should be different, in plain words</span>
      </label>
      <textarea
        id="ask-text"
        rows={4}
        value={text}
        placeholder="Answer in one sentence, then give the number alone."
        aria-describedby="ask-count"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event)
        }}
      />
      <div class="row">
        <span class="muted small row">
          About {head.name}, served now <Id value={releaseId} />
        </span>
        <span class="spring" />
        <span id="ask-count" class={`small number ${characters > REQUEST_CHARACTERS_MAX ? 'too-many' : 'muted'}`}>
          {whole(characters)} of {whole(REQUEST_CHARACTERS_MAX)} characters
        </span>
        <button type="submit" class="button primary" disabled={!isSendable}>
          {isSending ? 'Sending …' : 'Ask'}
        </button>
      </div>
      <Notice said={said} />
    </form>
  )
}
