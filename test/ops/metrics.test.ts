/** The numbers for a monitor, read the way Prometheus reads them. */
import { expect, it } from 'vitest'
import { makePlace } from '../support/place.ts'
import { until } from '../support/wait.ts'
import { send } from '../support/world.ts'

const COMMENT = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /^[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"$/
const TYPES: ReadonlySet<string> = new Set(['counter', 'gauge', 'histogram'])
const SUFFIX = /_(bucket|sum|count)$/

interface Sample {
  readonly name: string
  readonly labels: readonly string[]
  readonly value: number
}

/** Throws with the first line that is not of the text format. */
function parse(text: string): { readonly types: ReadonlyMap<string, string>; readonly samples: readonly Sample[] } {
  expect(text.endsWith('\n')).toBe(true)
  const types = new Map<string, string>()
  const samples: Sample[] = []
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, about = '', words = ''] = COMMENT.exec(line) ?? []
    if (kind === 'TYPE') {
      expect(types.has(about)).toBe(false)
      types.set(about, words)
    }
    if (kind === undefined) samples.push(sampleOf(line, types))
  }
  return { types, samples }
}

function sampleOf(line: string, types: ReadonlyMap<string, string>): Sample {
  const [, name = '', labelText = '', value = ''] = SAMPLE.exec(line) ?? []
  const labels = labelText === '' ? [] : labelText.split(/,(?=[a-zA-Z_]\w*=")/)
  const family = types.has(name) ? name : name.replace(SUFFIX, '')
  const isValid = TYPES.has(types.get(family) ?? '') && labels.every((label) => LABEL.test(label)) && Number.isFinite(Number(value))
  if (!isValid) throw new Error(`not a sample of a family that was announced: ${line}`)
  return { name, labels, value: Number(value) }
}

it('GET /metrics is Prometheus text: families announced once, series unique, histograms cumulative, counts right', async () => {
  const place = await makePlace()
  const { address } = await place.start()
  const exchange = { headers: { 'x-svc-scenario': 'counted' }, body: { model: 'm', messages: [] } }
  for (let count = 0; count < 3; count += 1) await send(address, 'POST', '/v1/chat/completions', exchange)
  await send(address, 'GET', '/odd/"path"\\n{}', {})
  const answer = await send(address, 'GET', '/metrics', {})
  expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
  const { types, samples } = parse(answer.text)
  const keys = samples.map(({ name, labels }) => `${name}{${labels.toSorted().join()}}`)
  expect(new Set(keys).size).toBe(keys.length)
  for (const [name, type] of types) if (type === 'counter') expect(name).toMatch(/_total$/)

  const chat = samples.filter(({ labels }) => labels.includes('route="/v1/chat/completions"'))
  const buckets = chat.filter(({ name }) => name.endsWith('_bucket')).map(({ value }) => value)
  expect(buckets).toEqual(buckets.toSorted((a, b) => a - b))
  expect([buckets.at(-1), chat.find(({ name }) => name.endsWith('_count'))?.value]).toEqual([3, 3])
  expect(samples.find(({ name }) => name === 'svc_records')?.value).toBe(3)
  expect(samples.find(({ name }) => name === 'svc_scenarios')?.value).toBe(1)
})

it('GET /metrics has the fleet once there is one: workers, the queue, how long it waits, the last hour and its cost', async () => {
  const place = await makePlace()
  const { address } = await place.start()
  const fleet = async (): Promise<ReadonlyMap<string, number>> => {
    const { samples } = parse((await send(address, 'GET', '/metrics', {})).text)
    return new Map(samples.filter(({ name }) => /^svc_(workers|episodes)/.test(name)).map(({ name, value }) => [name, value]))
  }
  expect([...(await fleet()).keys()]).toEqual([])
  const leaving = new AbortController()
  void fetch(`${address}/svc/fleet/take`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ worker: 'w', plays: ['x'], slots: 1 }),
    signal: leaving.signal,
  }).catch(() => undefined)
  await until(async () => (await fleet()).get('svc_workers') === 1)
  leaving.abort()
  expect([...(await fleet()).keys()]).toEqual([
    'svc_workers',
    'svc_episodes_waiting',
    'svc_episodes_unplayable',
    'svc_episodes_running',
    'svc_episodes_waited_seconds',
    'svc_episodes_last_hour',
    'svc_episodes_mean_wait_seconds',
    'svc_episodes_cost_last_hour',
  ])
})
