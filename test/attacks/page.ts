/** The parts of docs/security.md that follow from data. The counts are written by `npm run test:attacks -- --page`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HOLES } from './holes.ts'
import { LIMITS } from './limits.ts'
import { holesForPage, limitsForPage, withPart } from './table.ts'

export const SECURITY_PAGE = 'docs/security.md'

export function securityPage(): string {
  const page = readFileSync(join(import.meta.dirname, '../..', SECURITY_PAGE), 'utf8')
  return withPart(withPart(page, 'limits', limitsForPage(LIMITS)), 'holes', holesForPage(HOLES))
}
