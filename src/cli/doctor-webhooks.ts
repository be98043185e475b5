/** What targets of webhooks refused, as far as it is kept on this machine. */
import { join } from 'node:path'
import type { LoadedConfig } from '../config/index.ts'
import { FolderDocuments, wordsOf } from '../kit/index.ts'
import { counted } from '../presentation/index.ts'
import type { Finding } from './explain.ts'

const CHECK = 'webhooks'

/** With PostgreSQL it is in the database, and `svc status` says it. */
export async function checkWebhooks({ config: { webhooks, storage } }: LoadedConfig): Promise<readonly Finding[]> {
  if (storage.record_backend !== 'sqlite') return []
  const kept = new FolderDocuments(join(storage.agent_record_dir, 'webhooks'))
  const findings = Object.keys(webhooks).map(async (name): Promise<readonly Finding[]> => {
    try {
      const events: unknown = JSON.parse(Buffer.from((await kept.read(`${name}.set-aside.json`)) ?? Buffer.from('[]')).toString())
      const count = Array.isArray(events) ? events.length : 0
      if (count === 0) return []
      return [
        {
          check: CHECK,
          state: 'warning',
          found: `${name} refused ${counted(count, 'event')} again and again, which ${count === 1 ? 'is' : 'are'} set aside`,
          fix: 'mend the target, then: svc webhooks retry',
        },
      ]
    } catch (error) {
      const fix = `restore webhooks/${name}.set-aside.json in the folder of the records, or remove it to leave out what it holds`
      return [{ check: CHECK, state: 'problem', found: `what ${name} refused cannot be read: ${wordsOf(error)}`, fix }]
    }
  })
  return (await Promise.all(findings)).flat()
}
