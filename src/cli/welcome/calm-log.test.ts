import { expect, test } from 'vitest'
import { calmLog } from './index.ts'

test('what went well is silent; what did not is one line that no stranger can paint', () => {
  const said: string[] = []
  const log = calmLog((line) => void said.push(line))
  log.write('info', 'request', { status: 200 })
  log.write('warn', 'recipe', { recipe: 'practice', message: 'no sandbox' })
  log.write('error', 'failure', { stack: 'at \u001B[2J\u202Ex\nat y' })
  log.flush()
  expect(said).toEqual(['recipe: no sandbox {"recipe":"practice"}', String.raw`failure {"stack":"at \u001b[2J\u202ex\nat y"}`])
})
