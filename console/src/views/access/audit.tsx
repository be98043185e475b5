/** Who changed what, when and from where, newest first. */
import { useState } from 'preact/hooks'
import type { AuditRow } from '@svc-ai/client'
import { usePolled } from '../../poll.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { shortened, Text } from '../../ui/text.tsx'
import { Clock } from '../../ui/time.tsx'

const ROWS = 50
const AGAIN_SECONDS = 10
const COLUMNS = ['When', 'Who', 'From', 'Action', 'Scenario', 'Target', 'Before and after'] as const

/** Pages that were left behind are not kept: the way back is one press each. */
export function Audit() {
  const [starts, setStarts] = useState<readonly (number | null)[]>([null])
  const start = starts.at(-1) ?? null
  const { value, said } = usePolled(
    `audit before ${start}`,
    (service) => service().audit({ order: 'newest', limit: ROWS, ...(start !== null && { before_sequence: start }) }),
    AGAIN_SECONDS,
  )
  const next = value?.next ?? null
  return (
    <Card title="Audit" aside={<span class="muted small">newest first; nothing removes an entry</span>}>
      <Notice said={said} />
      {value?.audit.length === 0 && <p class="muted">Nothing was changed yet.</p>}
      {value !== null && value.audit.length > 0 && (
        <Table columns={COLUMNS}>
          {value.audit.map((row) => (
            <Entry key={row.sequence} row={row} />
          ))}
        </Table>
      )}
      <div class="row">
        {starts.length > 1 && <Button onClick={() => setStarts(starts.slice(0, -1))}>Newer</Button>}
        {next !== null && <Button onClick={() => setStarts([...starts, next])}>Older</Button>}
      </div>
    </Card>
  )
}

function Entry({ row: { at, by, role, from, action, scenario, target, before, after } }: { readonly row: AuditRow }) {
  const who = by === null ? 'anyone (open service)' : role === null ? by : `${by} (${role})`
  return (
    <tr>
      <td data-label="When">
        <Clock at={at} />
      </td>
      <td data-label="Who">
        <Text value={who} />
      </td>
      <td data-label="From">{from !== null && <Text value={from} />}</td>
      <td data-label="Action">{wordsOf(action)}</td>
      <td data-label="Scenario">{scenario !== null && <Text value={scenario} />}</td>
      <td data-label="Target">{target !== null && <Text value={shortened(target, TARGET_CHARACTERS)} />}</td>
      <td data-label="Details">
        <details>
          <summary class="small">Details</summary>
          <pre class="changes small">
            <Text value={shortened(changesText(before, after), CHANGES_CHARACTERS)} />
          </pre>
        </details>
      </td>
    </tr>
  )
}

const TARGET_CHARACTERS = 40
const CHANGES_CHARACTERS = 4000

/** "createToken" reads "create token". */
const wordsOf = (action: string): string => action.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const changesText = (before: AuditRow['before'], after: AuditRow['after']): string =>
  [
    ...(before === null ? [] : [`before: ${JSON.stringify(before, null, 2)}`]),
    ...(after === null ? [] : [`after: ${JSON.stringify(after, null, 2)}`]),
  ].join('\n')
