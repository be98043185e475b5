/** The alerts and the dashboard, held against Prometheus' own checker, the types that Grafana publishes, and the metrics of a running service. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { makeCertificate } from '../support/certificate.ts'
import { temporaryFolder } from '../support/folder.ts'
import { misfits } from '../support/grafana.ts'
import { makePlace } from '../support/place.ts'
import { program } from '../support/programs.ts'
import { ALERTS, INSTANCE, type AlertCase } from './alerts.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
const RULES = join(DEPLOY, 'prometheus/rules.yaml')

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

const rules = ((): readonly Rule[] => {
  const { groups }: { groups: readonly { rules: readonly Rule[] }[] } = parse(readFileSync(RULES, 'utf8'))
  return groups.flatMap((group) => group.rules)
})()

function promtool({ input = '' }: { readonly input?: string }, ...args: readonly string[]) {
  const { status: code, stdout, stderr } = spawnSync(program('promtool'), args, { encoding: 'utf8', input })
  return { code, said: `${stdout}${stderr}` }
}

function written(name: string, content: unknown): string {
  const file = join(temporaryFolder(), name)
  writeFileSync(file, stringify(content))
  return file
}

describe('the alerts', () => {
  it('are rules that Prometheus takes', () => {
    expect(promtool({}, 'check', 'rules', RULES)).toMatchObject({ code: 0, said: expect.stringContaining(`${rules.length} rules found`) })
  })

  it('each have series that make them fire, and series that do not', () => {
    expect(Object.keys(ALERTS)).toEqual(rules.map(({ alert }) => alert))
  })

  it.each(rules)('$alert fires when it should, with its words, and only then', (rule) => {
    const { at, fires, labels, quiet } = caseOf(rule)
    const wanted = { exp_labels: { ...rule.labels, ...labels }, exp_annotations: wordsWith(rule.annotations, labels) }
    const tests = [
      testOf(rule, at, fires, [wanted]),
      ...quiet.map((series) => testOf(rule, at, series, [])),
      // Without any series, as with a service that has none of what it is about.
      testOf(rule, at, { 'svc_scenarios{}': '1+0x200' }, []),
    ]
    expect(promtool({}, 'test', 'rules', written('test.yaml', { rule_files: [RULES], evaluation_interval: '1m', tests }))).toMatchObject({
      code: 0,
    })
  })

  it('that fire where none is expected are found', () => {
    const [rule] = rules
    if (rule === undefined) throw new Error('there is no rule')
    const { at, fires } = caseOf(rule)
    const tests = [testOf(rule, at, fires, [])]
    expect(promtool({}, 'test', 'rules', written('test.yaml', { rule_files: [RULES], tests })).code).toBe(1)
  })
})

function caseOf({ alert }: Rule): AlertCase {
  const found = ALERTS[alert]
  if (found === undefined) throw new Error(`no series for ${alert}`)
  return found
}

const testOf = ({ alert }: Rule, at: string, series: Readonly<Record<string, string>>, alerts: readonly unknown[]) => ({
  interval: '1m',
  input_series: Object.entries(series).map(([name, values]) => ({
    series: name.replace('{', `{job="svc",instance="${INSTANCE}",`),
    values,
  })),
  alert_rule_test: [{ alertname: alert, eval_time: at, exp_alerts: alerts }],
})

const wordsWith = (annotations: Rule['annotations'], labels: AlertCase['labels']) =>
  Object.fromEntries(
    Object.entries(annotations).map(([key, text]) => [
      key,
      text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? ''),
    ]),
  )

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] }
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
}

const dashboard: Dashboard = JSON.parse(readFileSync(join(DEPLOY, 'grafana/dashboard.json'), 'utf8'))
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

/** The metrics whose labels its variables list. */
const variables = dashboard.templating.list.flatMap(({ query }) => JSON.stringify(query).match(/(?<=label_values\()\w+/g) ?? [])

/** As Grafana fills in its variables. */
const filled = (query: string): string => query.replaceAll('$__rate_interval', '5m').replaceAll('$instance', INSTANCE)

describe('the dashboard', () => {
  it('has the fields and values that the types of Grafana have, of every panel and its options', () => {
    expect(misfits(dashboard, temporaryFolder())).toBe('')
  })

  it.each([
    ['a field that there is not', { ...dashboard, pannels: [] }, 'pannels'],
    ['a value of no list', { ...dashboard, templating: { list: [{ name: 'a', type: 'no-such-type' }] } }, 'no-such-type'],
    ['a panel without its place', { ...dashboard, panels: [{ type: 'stat', options: { colorMode: 'loud' } }] }, 'loud'],
  ])('would not fit with %s', (_, other, named) => {
    expect(misfits(other, temporaryFolder())).toContain(named)
  })

  it('asks what Prometheus can read', () => {
    const asked = [...queries, ...variables]
    const group = { name: 'dashboard', rules: asked.map((query, at) => ({ record: `query_${at}`, expr: filled(query) })) }
    expect([queries.length > 25, variables]).toEqual([true, ['svc_scenarios']])
    expect(promtool({}, 'check', 'rules', written('queries.yaml', { groups: [group] }))).toMatchObject({
      code: 0,
      said: expect.stringContaining(`${asked.length} rules found`),
    })
  })
})

it('every metric that alerts and dashboard name is there after the first request to a service that has everything switched on', async () => {
  const place = await makePlace()
  const { certificate, key } = makeCertificate(temporaryFolder(), 'monitored')
  const { address } = await place.start({
    settings: {
      'svc.listeners': 2,
      'storage.record_backend': 'sqlite',
      'svc.tls.certificate': certificate,
      'svc.tls.key': key,
      'traces.endpoint': 'http://127.0.0.1:9',
      'webhooks.chat.url': 'http://127.0.0.1:9',
      'webhooks.chat.allow_inside': true,
      'webhooks.chat.secret': `whsec_${randomBytes(24).toString('base64')}`,
    },
  })
  await metricsOf(address, readFileSync(certificate))
  const text = await metricsOf(address, readFileSync(certificate))
  const there = new Set([...text.matchAll(/^([a-z_]+)(?:\{[^}]*\})? \S+$/gm)].map(([, name = '']) => name))
  const named = [...rules.map(({ expr }) => expr), ...queries].flatMap((query) => query.match(/\b(?:svc|process)_[a-z_]+/g) ?? [])
  expect([...new Set(named)].filter((name) => !there.has(name))).toEqual([])
  // What it prints are rules of style that it holds metrics against.
  expect(promtool({ input: text }, 'check', 'metrics')).toEqual({ code: 0, said: '' })
})

function metricsOf(address: string, ca: Buffer): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  get(`${address}/metrics`, { ca, agent: false }, (response) => void readText(response).then(resolve, reject)).on('error', reject)
  return promise
}
