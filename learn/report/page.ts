/** Puts the tables into the page, between its marks. */
import { forPage } from './print.ts'
import type { Table } from './tables.ts'

const BEGIN = '<!-- learn: begin, written by npm run learn -->'
const END = '<!-- learn: end -->'

export function withTables(page: string, tables: readonly Table[]): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (from === -1 || to < from) throw new Error(`the page has no place for the tables: it must hold "${BEGIN}" and "${END}"`)
  return [page.slice(0, from) + BEGIN, ...tables.map(forPage), page.slice(to)].join('\n\n')
}
