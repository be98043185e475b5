/** `svc audit`: who changed what, the newest of it as a table, or all of it as lines of JSON. */
import type { AuditRow, Svc } from '@svc-ai/client'
import { ago } from '../../presentation/index.ts'
import { table, type Cell, type TableColumn } from '../screen/table.ts'
import { jsonText, oneLine } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { withService } from './service.ts'

export interface AuditOptions extends RemoteOptions {
  readonly number: number
  readonly after?: number
}

const PAGE_ROWS = 100

export function audit(options: AuditOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async ({ svc }) => {
    if (options.json === true) await exportLines(svc, options, surroundings)
    else {
      const rows = await newest(svc, options)
      surroundings.out(rows.length === 0 ? 'nothing was changed yet' : table(COLUMNS, rows.map(cellsOf), surroundings))
    }
    return EXIT.fine
  })
}

/** Oldest first, so that the next export goes on with --after the last line. */
async function exportLines(svc: Svc, { after = 0, scenario }: AuditOptions, { out }: Surroundings): Promise<void> {
  for (let from: number | null = after; from !== null;) {
    const page = await svc.audit({ limit: PAGE_ROWS, after_sequence: from })
    for (const row of page.audit) if (isAsked(row, scenario)) out(jsonText(row))
    from = page.next
  }
}

async function newest(svc: Svc, { number, after = 0, scenario }: AuditOptions): Promise<readonly AuditRow[]> {
  const rows: AuditRow[] = []
  let before: number | null = null
  do {
    const page = await svc.audit({ order: 'newest', limit: PAGE_ROWS, ...(before !== null && { before_sequence: before }) })
    rows.push(...page.audit.filter((row) => row.sequence > after && isAsked(row, scenario)))
    before = page.next
  } while (before !== null && before > after && rows.length < number)
  return rows.slice(0, number)
}

const isAsked = (row: AuditRow, scenario: string | undefined): boolean => scenario === undefined || row.scenario === scenario

const COLUMNS: readonly TableColumn[] = [
  { title: '#', isNumber: true },
  { title: 'WHEN', isNumber: true },
  { title: 'WHO', least: 8 },
  { title: 'FROM', least: 9 },
  { title: 'ACTION' },
  { title: 'SCENARIO', least: 8 },
  { title: 'TARGET', least: 8 },
  { title: 'BEFORE', least: 16 },
  { title: 'AFTER', least: 16 },
]

function cellsOf({ sequence, at, by, from, action, scenario, target, before, after }: AuditRow): readonly Cell[] {
  const texts = [by ?? 'anyone', from ?? '', action, scenario ?? '', target ?? '', shortly(before), shortly(after)]
  return [String(sequence), ago(at), ...texts.map(oneLine)]
}

const shortly = (value: AuditRow['before']): string => (value === null ? '' : JSON.stringify(value))
