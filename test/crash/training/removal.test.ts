/** A scenario that is removed while its worker waits for a turn: no worker goes on with it. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import sqlite from '../../../plugins/stores/sqlite/index.ts'
import { define, type JsonObject } from '../../../src/contract/index.ts'
import { startService } from '../../../src/main.ts'
import { wrapStore } from '../../fixtures/wrap-store.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { argumentsOf, dataPlaceIn, loadArguments, settingsOf } from '../../support/settings.ts'
import { until } from '../../support/wait.ts'
import { send, type Answer } from '../../support/world.ts'

const RECIPE = fileURLToPath(new URL('../../fixtures/training/ledger.ts', import.meta.url))

it('is not loaded again by a worker that rests meanwhile, and the log shows no trouble', async () => {
  const folder = temporaryFolder()
  const [arrived, passing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow = define('store', {
    async make(config) {
      const store = await sqlite.plugin.make(config)
      const archive = async (name: string): Promise<string> => {
        arrived.resolve()
        await passing.promise
        return store.archive(name)
      }
      return wrapStore(store, { archive })
    },
  })
  const settings = { ...settingsOf(dataPlaceIn(folder), 'http://127.0.0.1:1'), recipe: RECIPE, 'svc.training_threads': 1 }
  const logged: JsonObject[] = []
  const service = await startService(await loadArguments(argumentsOf(settings)), {
    log: { write: (_level, event, fields) => logged.push({ event, ...fields }), flush: () => undefined },
    plugins: { ...builtins, store: { sqlite: () => Promise.resolve({ default: slow }) } },
  })
  onTestFinished(() => service.close())
  const { address } = service
  const status = async (): Promise<JsonObject> => (await send(address, 'GET', '/svc/status', {})).json
  const gate = join(folder, 'gate')
  await report(address, 'busy', ['x'], `wait ${gate} add`)
  await until(() => existsSync(`${gate}.reached`))
  // There is one turn, and it is taken: this one's worker waits for it.
  await report(address, 'leaving', ['x'], 'add')
  await until(async () => Object(Object((await status())['scenarios'])['leaving'])['batch_ready'] === true)
  const removal = send(address, 'DELETE', '/svc/scenarios/leaving', {})
  await arrived.promise
  const before = (await status())['last_drain_at']
  await report(address, 'other', [], 'add')
  await until(async () => (await status())['last_drain_at'] !== before)
  passing.resolve()
  expect((await removal).status).toBe(200)
  // Whatever waited behind the removal has had its turn once the name is used again.
  expect((await send(address, 'POST', '/svc/scenarios', { body: { name: 'leaving' } })).status).toBe(201)
  writeFileSync(gate, '')
  expect(logged.filter(({ event }) => event === 'background_error')).toEqual([])
})

async function report(address: string, scenario: string, references: readonly string[], feedback: string): Promise<Answer> {
  const headers = { 'x-svc-scenario': scenario }
  for (const id of references)
    await send(address, 'POST', '/svc/records', { headers, body: { agent_record_id: id, request_type: 'inference', payload: {} } })
  return send(address, 'POST', '/svc/report', { headers, body: { references, feedback } })
}
