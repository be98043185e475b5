/** What people said of a held release, and a field to say more. A comment decides nothing. */
import { useId, useState } from 'preact/hooks'
import { isCommentable, type StepView } from '../../../../src/presentation/index.ts'
import type { ChainStep } from '../../data/chain.ts'
import { useAction } from '../../data/use-action.ts'
import { useSession } from '../../session.ts'
import { Card } from '../../ui/card.tsx'
import { Notice } from '../../ui/notice.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'

interface CommentsProps {
  readonly scenario: string
  readonly step: ChainStep
  readonly view: StepView
  readonly done: (line: string) => void
}

/** Nothing of a release that was never held for review. */
export function CommentsCard({ scenario, step, view: { comments }, done }: CommentsProps) {
  const session = useSession()
  const field = useId()
  const [text, setText] = useState('')
  const { isBusy, said, act } = useAction()
  if (!isCommentable(step.row)) return null
  const send = (): Promise<void> =>
    act(
      async () => session.service(scenario).comment(step.row.release_id, text),
      () => {
        setText('')
        done(`Your comment stands with ${step.name}.`)
        return null
      },
    )
  return (
    <Card title="Comments" aside={comments.length > 0 && <span class="muted number">{comments.length}</span>}>
      {comments.map(({ step: at, ...comment }) => (
        <div key={at} class="stack tight">
          <p class="muted small">
            {comment.by === null ? 'A person' : <Text value={comment.by} />}, <Ago at={comment.at} />
          </p>
          <blockquote class="quote">
            <LongText value={comment.text} />
          </blockquote>
        </div>
      ))}
      <Notice said={said} />
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <label for={field}>Say something to the others who decide. It changes nothing.</label>
        <textarea
          id={field}
          rows={2}
          maxLength={COMMENT_CHARACTERS_MAX}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <div class="row">
          <button type="submit" class="button small" disabled={isBusy || text.trim() === ''}>
            Comment
          </button>
        </div>
      </form>
    </Card>
  )
}

/** As the service takes it. */
const COMMENT_CHARACTERS_MAX = 2000
