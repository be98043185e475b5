/** The recorded session is that of its script, and says nothing of the machine that recorded it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { RECEIPT, SESSION, SESSION_PAGE, typedOn } from '../../scripts/session-page.ts'
import { execute } from '../../src/cli/testing/surroundings.ts'

const page = readFileSync(join(import.meta.dirname, '..', '..', SESSION_PAGE), 'utf8')

it(`${SESSION_PAGE} has the commands of its script, in their order (else: npm run docs:session)`, () => {
  const typed = typedOn(page).map((line) => line.replace(/\b[0-9a-f]{32}\b/, RECEIPT))
  expect(typed).toEqual(SESSION.map((command) => command.typed))
})

it('every command of it is a command of the program', async () => {
  const names = SESSION.flatMap(({ typed }) => /^svc (\w+)/.exec(typed)?.[1] ?? [])
  expect(names.length).toBeGreaterThan(4)
  for (const name of names) expect((await execute([name, '--help'])).exit).toBe(0)
})

it('it ends with an improvement, and names no folder or port of the recording', () => {
  expect(page).toMatch(/^improved: /m)
  expect(page).not.toMatch(/svc-session-|\/tmp\/|\/home\//)
  expect(new Set(page.match(/127\.0\.0\.1:\d+/g))).toEqual(new Set(['127.0.0.1:8900']))
})
