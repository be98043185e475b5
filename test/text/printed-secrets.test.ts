/** What a plug-in prints, and what a crash leaves on standard error, is without the keys of the deployment. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCommand } from '../support/command.ts'

const KEY = ['Gk2v', 'Xw8m', 'Pz4r', 'Tn6c', 'Jd1s'].join('')
const TOKEN = ['Bq7h', 'Yl3f', 'Ue9k', 'Wo5a', 'Mi0d'].join('')

it('a plug-in that prints them and crashes the process', async () => {
  const recipe = join(import.meta.dirname, '../fixtures/training/crashing.ts')
  const args = ['serve', '--recipe', recipe, '--svc.port', '0', '--storage.record_backend', 'memory']
  const { code, out, err } = await runCommand(args, {
    SVC_UPSTREAM_URL: 'http://127.0.0.1:9',
    SVC_UPSTREAM_API_KEY: KEY,
    SVC_TOKEN: TOKEN,
  })
  expect(code).toBe(1)
  for (const words of [
    'the secret is [redacted]',
    'in pieces [redacted]',
    'in a thread [redacted]',
    'crashed with [redacted] and [redacted]',
  ])
    expect(err).toContain(words)
  for (const secret of [KEY, TOKEN])
    for (const form of [secret, Buffer.from(secret).toString('base64'), secret.slice(0, 12), secret.slice(-12)])
      expect(out + err).not.toContain(form)
})
