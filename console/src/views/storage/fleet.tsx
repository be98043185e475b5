/** Workers on other machines: who plays episodes, what waits, and what the last hour came to. */
import type { Fleet } from '@svc-ai/client'
import { counted, duration, fleetHour, whole } from '../../../../src/presentation/index.ts'
import { usePolled } from '../../poll.ts'
import { Card } from '../../ui/card.tsx'
import { Facts } from '../../ui/facts.tsx'
import { NumberCell, Table } from '../../ui/table.tsx'
import { Text } from '../../ui/text.tsx'

const AGAIN_SECONDS = 5

/** Absent where nothing is played on other machines. A token for single scenarios does not see it. */
export function FleetCard() {
  const { value: fleet } = usePolled('fleet', (service) => service().fleet(), AGAIN_SECONDS)
  if (fleet === null || (fleet.workers.length === 0 && fleet.waiting === 0)) return null
  return (
    <Card title="Workers" aside={<span class="number">{counted(fleet.workers.length, 'worker')}</span>}>
      <Facts
        facts={[
          ['Episodes', `${whole(fleet.running)} played now, ${whole(fleet.waiting)} waiting`],
          ['Longest wait', fleet.waiting === 0 ? 'none' : duration(fleet.waited_seconds)],
          ['Last hour', fleetHour(fleet.last_hour)],
          ...fleet.unplayable.map(
            ({ scenario, episodes, reason }) => [`Nobody can play ${whole(episodes)} of ${scenario}`, reason] as const,
          ),
        ]}
      />
      {fleet.workers.length > 0 && (
        <Table columns={['Worker', 'Plays', 'Played', 'Lost', 'Checked', 'Differed', 'Heard of']}>
          {fleet.workers.map((worker) => (
            <WorkerRow key={worker.name} worker={worker} />
          ))}
        </Table>
      )}
    </Card>
  )
}

function WorkerRow({ worker }: { readonly worker: Fleet['workers'][number] }) {
  const { name, running, slots, played, lost, checked, differed, is_set_aside: isSetAside, seen_seconds_ago: seen } = worker
  return (
    <tr>
      <td data-label="Worker">
        <Text value={name} />
        {isSetAside && <span class="failing"> set aside: its scores differ from everybody's</span>}
      </td>
      <NumberCell of="Plays">{`${whole(running)} of ${whole(slots)}`}</NumberCell>
      <NumberCell of="Played">{whole(played)}</NumberCell>
      <NumberCell of="Lost" isBad={lost > 0}>
        {whole(lost)}
      </NumberCell>
      <NumberCell of="Checked">{whole(checked)}</NumberCell>
      <NumberCell of="Differed" isBad={isSetAside}>
        {whole(differed)}
      </NumberCell>
      <NumberCell of="Heard of">{`${duration(seen)} ago`}</NumberCell>
    </tr>
  )
}
