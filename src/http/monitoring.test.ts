/** The alerts and the dashboard of `deploy/` name metrics and labels that the service really exports. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { describe, expect, it } from 'vitest'
import { Metrics } from './metrics.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')

/** By name, with the labels of its series. */
function exported(): ReadonlyMap<string, ReadonlySet<string>> {
  const metrics = new Metrics()
  metrics.begin()
  metrics.end('/v1/chat/completions', 200, 0.1)
  const text = metrics.print(
    { records: 1, body_bytes: 1, capacity_bytes: 1, lost_records: 0, lost_bytes: 0 },
    true,
    { known: 1, loaded: 1, training: 0, waiting: 0 },
    { logLinesDropped: 0, bodyBytes: 0, certificateExpiresAt: 1, isRetentionHeld: false },
    { exported: 0, dropped: 0 },
    { wanted: 1, live: 1, lost: 0, inFlight: 0 },
    [{ name: 'chat', delivered: 0, failed: 0, waiting: 0, setAside: 0 }],
  )
  const names = new Map<string, Set<string>>()
  for (const [, name = ''] of text.matchAll(/^# TYPE (\S+)/gm)) names.set(name, new Set())
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)) {
    const known = names.get(name) ?? new Set<string>()
    for (const [, label = ''] of labels.matchAll(/([a-z_]+)="/g)) known.add(label)
    names.set(name, known)
  }
  return names
}

const METRICS = exported()
/** Prometheus itself adds these. */
const ADDED_LABELS = new Set(['instance', 'job'])
const ADDED_METRICS = new Set(['up'])

interface Named {
  readonly where: string
  readonly expression: string
}

/** What an expression names wrongly: a metric that is not exported, or a label that no series of it has. */
function wrongIn({ where, expression }: Named): readonly string[] {
  const selectors = [...expression.matchAll(/\b((?:svc|process)_[a-z_]+|up)\b(?:\{([^}]*)\})?/g)]
  const wrong = selectors.flatMap(([, name = '', labels = '']) => {
    if (ADDED_METRICS.has(name)) return []
    const known = METRICS.get(name)
    if (known === undefined) return [`${where}: ${name} is not exported`]
    const used = [...labels.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label)
    return used.filter((label) => !known.has(label) && !ADDED_LABELS.has(label)).map((label) => `${where}: ${name} has no label ${label}`)
  })
  const grouped = [...expression.matchAll(/\b(?:by|without|on|ignoring) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/))
  const all = new Set([...ADDED_LABELS, ...selectors.flatMap(([, name = '']) => [...(METRICS.get(name) ?? [])])])
  const unknown = grouped.filter((label) => !all.has(label)).map((label) => `${where}: nothing has the label ${label}`)
  const isBalanced = ['()', '{}', '[]'].every(([open = '', close = '']) => expression.split(open).length === expression.split(close).length)
  return [...wrong, ...unknown, ...(isBalanced && selectors.length > 0 ? [] : [`${where}: the expression cannot be read`])]
}

const wrong = (expression: string): readonly string[] => wrongIn({ where: 'x', expression })

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string
      readonly expr: string
      readonly for?: string
      readonly labels: { readonly severity: string }
      readonly annotations: { readonly summary: string; readonly description: string }
    }[]
  }[]
}

describe('the alerts', () => {
  const { groups }: Rules = parse(readFileSync(join(DEPLOY, 'prometheus/rules.yaml'), 'utf8'))
  const rules = groups.flatMap((group) => group.rules)

  it('name what the service exports', () => {
    expect(rules.flatMap(({ alert, expr }) => wrongIn({ where: alert, expression: expr }))).toEqual([])
    expect(rules.length).toBeGreaterThan(10)
  })

  it('each have a name of their own, a severity, a time that Prometheus reads, and words that say what to do', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const { alert, for: lasting = '1m', labels, annotations } of rules) {
      expect(alert).toMatch(/^Svc[A-Za-z]+$/)
      expect(lasting).toMatch(/^\d+[smhd]$/)
      expect(['critical', 'warning', 'info']).toContain(labels.severity)
      expect(annotations.summary).toContain('{{ $labels.instance }}')
      expect(annotations.description.length).toBeGreaterThan(20)
    }
  })

  it('are found wrong where they name something else', () => {
    expect(wrong('rate(svc_request_total[5m]) > 0')).toEqual(['x: svc_request_total is not exported'])
    expect(wrong('svc_training_steps_total{outcome="failed"}')).toEqual(['x: svc_training_steps_total has no label outcome'])
    expect(wrong('sum by (scenario) (svc_scenarios)')).toEqual(['x: nothing has the label scenario'])
    expect(wrong('sum(rate(svc_scenarios[5m])')).toEqual(['x: the expression cannot be read'])
  })
})

interface Dashboard {
  readonly uid: string
  readonly schemaVersion: number
  readonly panels: readonly {
    readonly id: number
    readonly type: string
    readonly title: string
    readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
    readonly targets?: readonly { readonly expr: string; readonly refId: string }[]
  }[]
}

describe('the dashboard', () => {
  const dashboard: Dashboard = JSON.parse(readFileSync(join(DEPLOY, 'grafana/dashboard.json'), 'utf8'))
  const { panels } = dashboard

  it('names what the service exports', () => {
    const named = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: title, expression: expr })))
    expect(named.flatMap(wrongIn)).toEqual([])
    expect(named.length).toBeGreaterThan(20)
  })

  it('has what Grafana asks for when it is imported: ids, and panels that lie beside each other', () => {
    expect(dashboard.uid).toMatch(/^[a-z-]{1,40}$/)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const taken = new Set<string>()
    for (const { title, type, gridPos, targets = [] } of panels) {
      expect(['row', 'stat', 'timeseries']).toContain(type)
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.has(`${x} ${y}`), `${title} lies on another panel`).toBe(false)
          taken.add(`${x} ${y}`)
        }
    }
  })
})
