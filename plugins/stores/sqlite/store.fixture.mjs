/** A store in a process of its own, driven by lines of JSON: it can be traced, starved of disk, and killed. */
import { createInterface } from 'node:readline'
import sqlite from './index.ts'

const [directory, secret_key] = process.argv.slice(2)
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const record = (id, payload = { id, text: id.repeat(64) }) => ({
  agent_record_id: id,
  request_type: 'inference',
  created_at: 1,
  references: [],
  artifact_ref: null,
  score: null,
  payload: Buffer.from(JSON.stringify(payload)),
})
/** Each turn repeats the ones before; its id ends in their number. */
const conversation = (id) => {
  const turns = Number(id.slice(id.indexOf('-') + 1))
  return { said: Array.from({ length: turns + 1 }, (_, turn) => `${turn} `.repeat(4000)), id }
}
const creation = {
  step: 0,
  operation: 'create',
  recorded_at: 0,
  release: null,
  pending: false,
  outcome: 'published',
  consumed_ids: [],
  metrics: {},
  state: {},
}

try {
  await serve(await sqlite.plugin.make({ directory, ...(secret_key !== undefined && { secret_key, encrypt: true }) }))
} catch (error) {
  say({ refused: error.code })
}

/** Each line is carried out at once, side by side with those before it, and answered when it is done. */
async function serve(store) {
  const scenario = store.scenario('a')
  if ((await store.scenarios()).length === 0) await scenario.commit(creation)
  const verbs = {
    append: (id) => scenario.append([record(id)]).then(({ rows: [row] }) => row.sequence),
    fill: (count) => scenario.append(Array.from({ length: count }, (_, index) => record(`f${index}`))).then(({ rows }) => rows.length),
    turn: (id) => scenario.append([record(id, conversation(id))]).then(({ rows: [row] }) => row.sequence),
    archive: (name) => store.archive(name).then(() => 0),
    writing: () => store.writing.check().then((trouble) => trouble?.code ?? null),
    waiting: () => scenario.search.find({ before: Number.MAX_SAFE_INTEGER, limit: 1 }).then((found) => found.waiting),
    get: (id) => scenario.get(id).then((found) => found?.sequence ?? null),
  }
  say({ ready: process.pid })
  const doing = []
  for await (const line of createInterface({ input: process.stdin })) {
    const { verb, id } = JSON.parse(line)
    doing.push(
      verbs[verb](id).then(
        (sequence) => say({ verb, id, sequence }),
        (error) => say({ verb, id, refused: error.code }),
      ),
    )
  }
  await Promise.all(doing)
  await store.close()
}
