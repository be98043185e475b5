/** The list of records, with what is new above it. */
import { whole } from '../../../../src/presentation/index.ts'
import { go } from '../../route.ts'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { cellsOf, COLUMNS } from './traffic-cells.tsx'
import type { LiveTraffic } from './use-traffic.ts'

interface TrafficListProps {
  readonly scenario: string
  /** The record that is open. */
  readonly id: string | null
  readonly traffic: LiveTraffic
  /** A sequence, so that it stays with its row while others come in above. */
  readonly selected: number | null
  readonly onSelect: (sequence: number | null) => void
  /** A row to be brought onto the screen. */
  readonly show: { readonly index: number } | null
  readonly onNew: () => void
}

export function TrafficList({ scenario, id, traffic, selected, onSelect, show, onNew }: TrafficListProps) {
  const { book, scores, onWindow, onTop } = traffic
  const cells = (index: number) => {
    const row = book.at(index)
    return cellsOf(scenario, row, row === null ? null : scores.of(row))
  }
  const open = (index: number): void => {
    onSelect(book.sequenceAt(index))
    const row = book.at(index)
    if (row !== null) go({ at: 'scenario', scenario, view: 'traffic', id: row.agent_record_id })
  }
  return (
    <div class="traffic-list">
      {book.unseen > 0 && (
        <button type="button" class="button primary small traffic-new" onClick={onNew}>
          {`${whole(book.unseen)} new`}
        </button>
      )}
      <VirtualList
        label="Records"
        count={book.count}
        columns={COLUMNS}
        rowHeight={rowHeight}
        cells={cells}
        rowClass={(index) => (id !== null && book.at(index)?.agent_record_id === id ? 'is-open' : '')}
        selected={selected === null ? null : book.indexOf(selected)}
        onSelect={(index) => onSelect(book.sequenceAt(index))}
        onOpen={open}
        onWindow={onWindow}
        onTop={onTop}
        show={show}
      />
    </div>
  )
}

/** A narrow list needs two lines for a row. */
const rowHeight = (width: number): number => (width < 600 ? 56 : 34)
