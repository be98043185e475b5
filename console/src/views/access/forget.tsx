/** Forgetting a person: what is stored of them is counted first, then removed, with every place that was looked at. */
import { useState } from 'preact/hooks'
import type { ForgottenPerson } from '@svc-ai/client'
import { useAction } from '../../data/use-action.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Text } from '../../ui/text.tsx'

const COLUMNS = ['Place', 'Looked for', 'Left'] as const

export function Forget() {
  const { service } = useSession()
  const [name, setName] = useState('user')
  const [value, setValue] = useState('')
  const [found, setFound] = useState<ForgottenPerson | null>(null)
  const [isAsked, setAsked] = useState(false)
  const { isBusy, said, act } = useAction()
  const change = (set: (text: string) => void, text: string): void => {
    set(text)
    setFound(null)
  }
  const count = (): Promise<void> =>
    act(
      async () => setFound(await service().forget({ name, value, dry_run: true })),
      () => null,
    )
  return (
    <Card title="Forget a person" aside={<span class="muted small">by the tag that their requests have</span>}>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) void count()
        }}
      >
        <label class="field">
          <span>Name of the tag</span>
          <input required autocomplete="off" value={name} onInput={(event) => change(setName, event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>Value of the tag</span>
          <input required autocomplete="off" value={value} onInput={(event) => change(setValue, event.currentTarget.value)} />
        </label>
        <button class="button small">Count</button>
      </form>
      <Notice said={said} />
      {found !== null && <Counted found={found} remove={() => setAsked(true)} />}
      {isAsked && (
        <Confirm
          title="Forget this person?"
          verb="Remove"
          act={async () => setFound(await service().forget({ name, value, dry_run: false }))}
          close={() => setAsked(false)}
        >
          <p>
            The records with the tag <Text value={`${name}=${value}`} />, the reports about them, and the tasks and step records made of
            them are removed for good. Reading every record takes a while.
          </p>
        </Confirm>
      )}
    </Card>
  )
}

function Counted({ found, remove }: { readonly found: ForgottenPerson; readonly remove: () => void }) {
  const { removed, records, reports, tasks, step_records: steps, places, left, unsearched } = found
  const counted = `${records} records, ${reports} reports, ${tasks} tasks and ${steps} step records`
  if (!removed)
    return (
      <div class="row" role="status">
        <span>{counted}</span>
        <Button class="danger" onClick={remove}>
          Remove …
        </Button>
      </div>
    )
  return (
    <div class="stack" role="status">
      <p>
        Removed {counted}.{' '}
        {left === 0 ? 'Nothing is left where it was looked for.' : `${left} places hold something that is for you to look at.`}
      </p>
      <Table columns={COLUMNS}>
        {places.map(({ place, searched, found: count }) => (
          <tr key={`${place} ${searched}`}>
            <td data-label="Place">
              <Text value={place} />
            </td>
            <td data-label="Looked for">{searched}</td>
            <td data-label="Left">{count}</td>
          </tr>
        ))}
      </Table>
      {unsearched.map((place) => (
        <p key={place} class="muted small">
          Not looked at: {place}
        </p>
      ))}
    </div>
  )
}
