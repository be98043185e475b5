/** Records as a file: lines of JSON as the service sent them, or a table with the body as one column of JSON. */
import type { RecordRow } from '@svc-ai/client'
import type { ExportFormat } from './manifest.ts'
import { parquetFile, type ParquetColumn, type ParquetKind } from './parquet.ts'

const PAYLOAD = ',"payload":'
const MICROSECONDS = 1e6

export const fileOf = (format: ExportFormat, lines: readonly string[]): Buffer =>
  format === 'jsonl' ? Buffer.from(lines.join('')) : parquetFile(columnsOf(lines))

interface TableRow extends RecordRow {
  /** As it was sent: no number is read and written again. */
  readonly body: string | null
}

interface TableColumn {
  readonly name: string
  readonly kind: ParquetKind
  readonly of: (row: TableRow) => string | number | null
}

const COLUMNS: readonly TableColumn[] = [
  { name: 'sequence', kind: 'integer', of: ({ sequence }) => sequence },
  { name: 'agent_record_id', kind: 'text', of: ({ agent_record_id }) => agent_record_id },
  { name: 'request_type', kind: 'text', of: ({ request_type }) => request_type },
  { name: 'created_at', kind: 'time', of: ({ created_at }) => created_at * MICROSECONDS },
  { name: 'artifact_ref', kind: 'text', of: ({ artifact_ref }) => artifact_ref },
  { name: 'score', kind: 'number', of: ({ score }) => score },
  { name: 'model', kind: 'text', of: ({ summary }) => summary?.model ?? null },
  { name: 'input_tokens', kind: 'integer', of: ({ summary }) => summary?.input_tokens ?? null },
  { name: 'output_tokens', kind: 'integer', of: ({ summary }) => summary?.output_tokens ?? null },
  { name: 'references', kind: 'json', of: ({ references }) => JSON.stringify(references) },
  { name: 'summary', kind: 'json', of: ({ summary }) => (summary === undefined ? null : JSON.stringify(summary)) },
  { name: 'payload', kind: 'json', of: ({ body }) => body },
]

function columnsOf(lines: readonly string[]): readonly ParquetColumn[] {
  const rows = lines.map(rowOf)
  return COLUMNS.map(({ name, kind, of }) => ({ name, kind, values: rows.map(of) }))
}

/** The body is the last field of a line, and no field before it has one of that name. */
function rowOf(line: string): TableRow {
  const at = line.indexOf(PAYLOAD)
  const [head, body] = at === -1 ? [line, 'null'] : [`${line.slice(0, at)}}`, line.slice(at + PAYLOAD.length, line.lastIndexOf('}'))]
  const row: RecordRow = JSON.parse(head)
  return { ...row, body: body === 'null' ? null : body }
}
