/** The chart as Helm sees it: linted, rendered for one gateway and for several, and refused where data would be lost. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { isObject, type JsonObject } from '../../../src/contract/index.ts'

const ROOT = join(import.meta.dirname, '../../..')
const CHART = join(ROOT, 'deploy/helm/svc')

function helm(...args: readonly string[]) {
  const { status, stdout, stderr, error } = spawnSync('helm', args, { encoding: 'utf8' })
  if (error !== undefined) throw new Error(`these tests need helm on PATH: ${error.message}`)
  return { status, stdout, stderr }
}

const settings = (values: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(values).flatMap(([key, value]) => ['--set', `${key}=${value}`])

/** Its documents, by kind. */
function rendered(values: Readonly<Record<string, string>> = {}): ReadonlyMap<string, JsonObject> {
  const { status, stdout, stderr } = helm('template', 'demo', CHART, ...settings(values))
  expect([status, stderr]).toEqual([0, ''])
  const documents = parseAllDocuments(stdout).map((document): unknown => document.toJS())
  return new Map(documents.filter(isObject).map((document) => [JSON.stringify(document['kind']).slice(1, -1), document]))
}

const refused = (values: Readonly<Record<string, string>>): string => helm('template', 'demo', CHART, ...settings(values)).stderr

const MANY = {
  replicaCount: '3',
  'config.storage.record_backend': 'postgres',
  'config.storage.artifact_repository': 's3://releases/svc',
  'persistence.enabled': 'false',
  signingKeySecret: 'key',
  existingSecret: 'words',
}

describe('the chart', () => {
  it.each([
    ['by default', {}],
    ['for several gateways', MANY],
    [
      'with an ingress',
      { 'ingress.enabled': 'true', 'ingress.host': 'svc.example.com', 'ingress.tlsSecret': 'tls', 'ingress.className': 'nginx' },
    ],
  ])('is linted without a word %s', (_, values) => {
    const { status, stdout } = helm('lint', '--strict', CHART, ...settings(values))
    expect([status, stdout]).toEqual([0, expect.stringContaining('0 chart(s) failed')])
  })

  it('renders one gateway with a folder of its own, that is never started twice', () => {
    const kinds = rendered()
    expect([...kinds.keys()].toSorted()).toEqual(['ConfigMap', 'Deployment', 'PersistentVolumeClaim', 'Service'])
    expect(kinds.get('Deployment')).toMatchObject({ spec: { replicas: 1, strategy: { type: 'Recreate' } } })
  })

  it('renders several gateways with a budget, the key of the deployment and the secrets', () => {
    const kinds = rendered(MANY)
    expect([...kinds.keys()].toSorted()).toEqual(['ConfigMap', 'Deployment', 'PodDisruptionBudget', 'Service'])
    expect(kinds.get('Deployment')).toMatchObject({
      spec: {
        replicas: 3,
        template: {
          spec: {
            initContainers: [{ name: 'signing-key' }],
            containers: [{ envFrom: [{ secretRef: { name: 'words' } }], securityContext: { readOnlyRootFilesystem: true } }],
            securityContext: { runAsNonRoot: true },
            automountServiceAccountToken: false,
          },
        },
      },
    })
  })

  it.each([
    ['gateways on SQLite', { ...MANY, 'config.storage.record_backend': 'sqlite' }, 'only PostgreSQL is shared'],
    [
      'gateways with releases on one machine',
      { ...MANY, 'config.storage.artifact_repository': '/var/lib/svc/artifacts.git' },
      'is no bucket',
    ],
    ['gateways with a key each', { ...MANY, signingKeySecret: '' }, 'signingKeySecret is not set'],
    ['gateways on a volume of one', { ...MANY, 'persistence.enabled': 'true' }, 'is not ReadWriteMany'],
    ['SQLite without a volume', { 'persistence.enabled': 'false' }, 'would be lost with the pod'],
    ['no gateway', { replicaCount: '0' }, 'minimum'],
    ['an ingress without a host', { 'ingress.enabled': 'true' }, 'ingress.host is needed'],
  ])('does not render %s', (_, values, words) => {
    expect(refused(values)).toContain(words)
  })
})
