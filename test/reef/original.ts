/** Writes folders of the original system: a database and a commit log per scenario, and a bare repository of releases. */
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { deflateSync } from 'node:zlib'

type Plain = Readonly<Record<string, unknown>>

const SCHEMA = `
  CREATE TABLE agent_record (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, agent_record_id TEXT NOT NULL, scenario TEXT NOT NULL, request_type TEXT NOT NULL,
    payload_json TEXT NOT NULL, created_at REAL NOT NULL, references_json TEXT NOT NULL, artifact_json TEXT,
    body_bytes INTEGER DEFAULT '0' NOT NULL, UNIQUE (agent_record_id));
  CREATE TABLE consumed_agent_record (agent_record_id TEXT, content_sha256 TEXT NOT NULL, PRIMARY KEY (agent_record_id));
  CREATE TABLE record_consumption (
    scenario TEXT NOT NULL, receipt_id TEXT NOT NULL, consumed_ids_json TEXT NOT NULL, consumed_ids_sha256 TEXT NOT NULL,
    metadata_json TEXT NOT NULL, recorded_at REAL NOT NULL, PRIMARY KEY (scenario, receipt_id, consumed_ids_sha256));
  CREATE TABLE record_eviction (
    scenario TEXT NOT NULL, record_count INTEGER NOT NULL, body_bytes INTEGER NOT NULL, first_sequence INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL, PRIMARY KEY (scenario));
  CREATE INDEX agent_record_capacity ON agent_record (created_at, sequence);
  CREATE INDEX agent_record_scenario_type_sequence ON agent_record (scenario, request_type, sequence);
  CREATE INDEX agent_record_scenario_sequence ON agent_record (scenario, sequence);`

export interface OriginalRelease {
  readonly kind: 'artifact' | 'live_weights'
  readonly content_id: string
  readonly release_id: string
  readonly parent_release_id: string | null
}

export interface OriginalRecord {
  readonly id: string
  readonly type: 'inference' | 'report' | 'train'
  readonly payload: Plain | string
  readonly at: number
  readonly references?: readonly string[]
  readonly release?: OriginalRelease
}

export interface StepLine {
  readonly release: OriginalRelease
  readonly at: number
  readonly checkpoint?: boolean
  readonly consumed?: readonly string[]
  readonly entries?: readonly Plain[]
  readonly more?: Plain
}

export interface Publication {
  readonly files: Readonly<Record<string, string | Buffer>>
  readonly at: number
  readonly entries?: readonly Plain[]
  readonly components?: readonly string[]
  readonly contentId?: string
  readonly held?: true
}

export class Original {
  readonly records: string
  readonly artifacts: string
  readonly base: OriginalRelease

  constructor(folder: string) {
    this.records = join(folder, 'agent-record')
    this.artifacts = join(folder, 'artifacts.git')
    mkdirSync(join(this.records, '.locks'), { recursive: true })
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', this.artifacts])
    this.base = this.#commit({}, { content_id: contentId(), source: { kind: 'empty' }, metadata: {} }, null, 1_700_000_000)
    this.ref('refs/reef/base', this.base.release_id)
    this.ref('refs/reef/head', this.base.release_id)
  }

  /** A fork of the base, or of another release, whose files the caller gives again. */
  scenario(name: string, files: Publication['files'] = {}, at = 1_700_000_000, from: OriginalRelease = this.base): OriginalScenario {
    const { content_id } = from
    const record = { format: 'reef-scenario/4', scenario: name, scenario_step: 0, base_artifact: from, operation: 'training' }
    const metadata = { components: { harness: { content_id, metadata: {} } }, scenario_commit_record: record }
    const manifest = { content_id, source: { kind: 'fork', release_id: from.release_id }, metadata }
    const created = this.#commit(files, manifest, from, at)
    this.ref(scenarioRef(name), created.release_id)
    return new OriginalScenario(this, name, created)
  }

  /** `step`: what the step says of itself in its row. */
  publish(scenario: string, step: Plain, parent: OriginalRelease, publication: Publication): OriginalRelease {
    const { components = ['harness'], contentId: content_id = contentId() } = publication
    const isOne = components.length === 1
    const metadata = {
      components: Object.fromEntries(components.map((name) => [name, { content_id: isOne ? content_id : contentId(), metadata: {} }])),
      scenario_commit_record: { format: 'reef-scenario/4', scenario, base_artifact: this.base, operation: 'training', ...step },
    }
    const manifest = { content_id, source: { kind: 'training' }, metadata }
    const release = this.#commit(publication.files, manifest, parent, publication.at)
    this.ref(`refs/reef/releases/${release.release_id}`, release.release_id)
    if (publication.held !== true) {
      this.ref(scenarioRef(scenario), release.release_id)
      this.ref('refs/reef/head', release.release_id)
    }
    return release
  }

  /** Renamed refs and moved files of a deleted scenario. */
  archive(name: string, release: OriginalRelease): void {
    this.ref(`refs/reef/archived/${Buffer.from(name).toString('base64url')}/20260101T000000Z`, release.release_id)
    mkdirSync(join(this.records, 'archived', `${hash('sha256', name)}-20260101T000000Z-0123456789abcdef`), { recursive: true })
  }

  ref(name: string, commit: string): void {
    const path = join(this.artifacts, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${commit}\n`)
  }

  /** Stores a large file as git-lfs does, and returns its pointer. */
  large(bytes: Buffer): string {
    const sha256 = hash('sha256', bytes)
    this.#write(join(this.artifacts, 'lfs', 'objects', sha256.slice(0, 2), sha256.slice(2, 4), sha256), bytes)
    return pointerTo(sha256, bytes.length)
  }

  #commit(files: Publication['files'], manifest: Plain, parent: OriginalRelease | null, at: number): OriginalRelease {
    const parent_release_id = parent?.release_id ?? null
    const own = `${JSON.stringify({ parent_release_id, ...manifest }, null, 2)}\n`
    const tree = this.#tree({
      ...files,
      '.gitattributes': '*.safetensors filter=lfs diff=lfs merge=lfs -text\n',
      'reef-artifact.json': own,
    })
    const who = `Repository <reef-artifacts@localhost> ${at} +0000`
    const ancestry = parent === null ? '' : `parent ${parent.release_id}\n`
    const text = `tree ${tree}\n${ancestry}author ${who}\ncommitter ${who}\n\npublish artifact\n`
    const release_id = this.object('commit', Buffer.from(text))
    return { kind: 'artifact', content_id: String(manifest['content_id']), release_id, parent_release_id }
  }

  #tree(files: Publication['files']): string {
    const folders = new Map<string, Record<string, string | Buffer>>()
    const entries: { readonly name: string; readonly mode: string; readonly id: string }[] = []
    for (const [path, content] of Object.entries(files)) {
      const cut = path.indexOf('/')
      if (cut === -1)
        entries.push({ name: path, mode: path.endsWith('.link') ? '120000' : '100644', id: this.object('blob', Buffer.from(content)) })
      else folders.set(path.slice(0, cut), { ...folders.get(path.slice(0, cut)), [path.slice(cut + 1)]: content })
    }
    for (const [name, inside] of folders) entries.push({ name, mode: '40000', id: this.#tree(inside) })
    const sortKey = ({ name, mode }: (typeof entries)[number]): string => (mode === '40000' ? `${name}/` : name)
    const sorted = entries.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
    const body = sorted.flatMap(({ name, mode, id }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')])
    return this.object('tree', Buffer.concat(body))
  }

  object(type: string, body: Buffer): string {
    const whole = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body])
    const id = hash('sha1', whole)
    this.#write(join(this.artifacts, 'objects', id.slice(0, 2), id.slice(2)), deflateSync(whole))
    return id
  }

  #write(path: string, bytes: Buffer): void {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes)
  }
}

export const pointerTo = (sha256: string, bytes: number): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${bytes}\n`

const scenarioRef = (name: string): string => `refs/reef/scenarios/${Buffer.from(name).toString('base64url')}`

let contents = 0
const contentId = (): string => `content:${hash('sha256', String((contents += 1))).slice(0, 32)}`

export class OriginalScenario {
  readonly name: string
  readonly created: OriginalRelease
  head: OriginalRelease
  step = 0
  readonly #original: Original
  readonly database: string
  readonly log: string
  readonly modelFile: string

  constructor(original: Original, name: string, created: OriginalRelease) {
    this.#original = original
    this.name = name
    this.created = created
    this.head = created
    this.database = join(original.records, `${hash('sha256', name)}.sqlite3`)
    this.log = join(original.records, `${hash('sha256', name)}.commits.jsonl`)
    this.modelFile = join(original.records, `${hash('sha256', name)}-model.json`)
    this.store([])
  }

  /** An unclosed database has its last writes only in the write-ahead log. */
  store(records: readonly OriginalRecord[], more: { readonly isOpen?: true; readonly sql?: string } = {}): void {
    const db = new DatabaseSync(this.database)
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;`)
    if (db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'agent_record'").get() === undefined) db.exec(SCHEMA)
    const insert = db.prepare(
      'INSERT INTO agent_record (agent_record_id, scenario, request_type, payload_json, created_at, references_json, artifact_json) VALUES (?, ?, ?, ?, ?, ?, ?)',
    )
    db.exec('BEGIN')
    for (const { id, type, payload, at, references = [], release } of records) {
      const text = typeof payload === 'string' ? payload : canonical(payload)
      insert.run(id, this.name, type, text, at, JSON.stringify(references), release === undefined ? null : canonical(release))
    }
    db.exec('COMMIT')
    if (more.sql !== undefined) db.exec(more.sql)
    if (more.isOpen !== true) db.close()
    else open.push(db)
  }

  /** A step without a release. */
  line({ release, at, checkpoint = false, consumed = [], entries, more = {} }: StepLine): void {
    this.step += 1
    const state = entries === undefined ? null : { entries, steps: this.step, failure_streak: 0 }
    const record_progress = progressOf(consumed)
    const kept = { record: 'reef-commit/5', scenario: this.name, step: this.step, artifact_ref: release, checkpoint, recorded_at: at }
    appendFileSync(this.log, `${canonical({ ...kept, algorithm_state: state, record_progress, ...more })}\n`)
  }

  publish(publication: Publication, line: Omit<StepLine, 'release' | 'at'> = {}): OriginalRelease {
    const { entries = publication.entries, consumed = [], more = {} } = line
    const state = entries === undefined ? {} : { algorithm_state: { entries } }
    const step = { scenario_step: this.step + 1, record_progress: progressOf(consumed), ...state, ...more }
    const release = this.#original.publish(this.name, step, this.head, publication)
    const row = { ...more, ...(publication.held === true && { pending: true }) }
    this.line({ release, at: publication.at, checkpoint: true, consumed, ...(entries && { entries }), more: row })
    if (publication.held !== true) this.head = release
    return release
  }

  /** Publishes a release again. The trainer keeps its entries, which may be others. */
  back(target: OriginalRelease, files: Publication['files'], at: number, entries: readonly Plain[] = []): OriginalRelease {
    const more = { operation: 'rollback', rollback_target_release_id: target.release_id }
    return this.publish({ files, at, contentId: target.content_id }, { entries, more })
  }
}

const progressOf = (consumed: readonly string[]): Plain => ({
  high_water_sequence: 0,
  high_water_offset: 0,
  consumed_ids: [...consumed].toSorted(),
})

/** Databases kept open until the test ends, so that their log remains. */
const open: DatabaseSync[] = []

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

/** A chat stream as text, as the original stores it. */
export function streamed(words: readonly string[]): Plain {
  const chunk = (delta: Plain, finish: string | null): string =>
    `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const parts = words.map((content) => chunk({ content }, null)).join('')
  const body = `${chunk({ role: 'assistant', content: '' }, null)}${parts}${chunk({}, 'stop')}data: [DONE]\n\n`
  const message = { role: 'assistant', content: words.join('') }
  return { stream: true, status: 200, headers: { 'content-type': 'text/event-stream' }, complete: true, body, message }
}
