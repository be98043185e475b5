/** What docs/terminal.md says of the commands is what they do. */
import { expect, it } from 'vitest'
import { bearer, named } from '../spec/support/helpers.ts'
import { HOLDING } from '../../src/cli/testing/surroundings.ts'
import { until } from '../support/wait.ts'
import { ownWorld, type World } from '../support/world.ts'
import { followDocument } from './blocks.ts'

const TOKEN = 'a-token-for-the-documents'
/** Nothing listens there. */
const WEBHOOK = {
  'webhooks.chat.url': 'http://127.0.0.1:9/',
  'webhooks.chat.secret': `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  'webhooks.chat.allow_inside': true,
}

/** One scenario, with an exchange, a report about it, and a change that waits for review. */
async function prepare(): Promise<World> {
  const here = await ownWorld({ settings: { ...HOLDING, ...WEBHOOK, 'svc.token': TOKEN } })
  const headers = { ...named('support'), ...bearer(TOKEN) }
  const answer = await here.post('/v1/chat/completions', { model: 'm', messages: [] }, headers)
  await here.post('/svc/report', { score: 1, references: [answer.headers['x-svc-agent-record-id']] }, headers)
  await here.post('/svc/train', { text: 'Be brief.', session: 's', release_id: 'r' }, headers)
  const releases = () => here.get('/svc/scenarios/support/releases', headers)
  await until(async () => (await releases()).text.includes('"pending":true'))
  return here
}

it('docs/terminal.md shows commands that work, in its order', async () => {
  const here = await prepare()
  const { blocks } = await followDocument('docs/terminal.md', here.directory, { SVC_URL: here.address, SVC_TOKEN: TOKEN })
  const [status, scenarios, releases, shown, compared, promoted, rolledBack, settings, records, one, exported, found, tailed] = blocks
  expect(status).toContain('waits for review: svc promote v1 --scenario support')
  expect(scenarios).toMatch(/^support +[0-9a-f]{8} +manual/m)
  expect(releases).toMatch(/^\* +v0 /m)
  expect(shown).toMatch(/^v1 Held/)
  expect(compared).toContain('+ Be brief.')
  expect(promoted).toMatch(/^support serves v2 .*\nundo: svc rollback v0 --scenario support\n$/)
  expect(rolledBack).toMatch(/^support serves v3 .*, the content of v0\nundo: svc rollback v2 --scenario support\n$/)
  expect(settings).toMatch(/^support\n +training_mode manual$/m)
  expect(records).toMatch(/^3 +[0-9a-f]{32} +train/m)
  expect(one).toMatch(/^type +inference\n[\s\S]*^messages: \[\]$/m)
  expect(exported).toBe('3 records of support written to support.jsonl\n3\n')
  expect(found).toMatch(/^3 +[0-9a-f]{32} +train .* Be brief\.\n[\s\S]*"waiting": 0/m)
  expect(tailed?.trimEnd().split('\n')).toHaveLength(3)
}, 180_000)
