/** A thread that joins the store of its parent and does what it is told, one message each; what it follows it tells. */
import { parentPort, workerData } from 'node:worker_threads'
import sqlite from '../index.ts'

const store = await sqlite.plugin.join(workerData.port)
const tell = (message) => parentPort.postMessage(message, [])
const scenario = store.scenario('a')
const record = (id) => ({
  agent_record_id: id,
  request_type: 'inference',
  created_at: 1,
  references: [],
  artifact_ref: null,
  score: null,
  payload: Buffer.from(JSON.stringify({ id })),
})
const verbs = {
  append: (id) => scenario.append([record(id)]).then(({ rows: [row] }) => row.sequence),
  get: (id) => scenario.get(id).then((found) => found?.sequence ?? null),
  lease: (name) => store.lease(name).then((lease) => lease?.token ?? null),
  archive: (name) => store.archive(name),
  writing: () => store.writing.check().then((trouble) => trouble?.code ?? null),
  close: () => store.close(),
  /** Ids of its own, as fast as they are answered, until the thread ends. */
  async stream(prefix) {
    const client = async (lane) => {
      for (let index = 0; ; index += 1) {
        const id = `${prefix}-${lane}-${index}`
        tell({ stored: id, sequence: await verbs.append(id) })
      }
    }
    await Promise.all([0, 1, 2, 3].map(client))
  },
}

store.follow((change) => tell({ change }))
store.writing.onChange((trouble) => tell({ trouble: trouble?.code ?? null }))
parentPort.on('message', ({ verb, id }) => void perform(verb, id))
tell('ready')

async function perform(verb, id) {
  try {
    tell({ verb, id, answer: (await verbs[verb](id)) ?? null })
  } catch (error) {
    tell({ verb, id, refused: error.code ?? String(error) })
  }
}
