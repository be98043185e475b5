/** The locks of cells, with a thread that holds them for long. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { allotCells, Cells } from './cells.ts'

const [BEGUN, FREED] = [0, 1]
/** Once it is told that the locks are held, it frees them a while later, and says so first. */
const HOLDER = `
const { parentPort, workerData: { ints, said } } = require('node:worker_threads')
parentPort.postMessage('ready')
Atomics.wait(said, ${BEGUN}, 0)
Atomics.wait(said, ${FREED}, 0, 100)
Atomics.store(said, ${FREED}, 1)
for (let at = 0; at < ints.length; at += 4) Atomics.store(ints, at, 0)
`

it('a cell that another thread holds is waited for, also while that thread is put aside', async () => {
  const memory = allotCells(8, 2)
  const cells = new Cells({ memory, slot: 0 }, () => 0)
  cells.change('key', ({ numbers, at }) => void (numbers[at] = 7))
  const said = new Int32Array(new SharedArrayBuffer(8))
  const holder = new Worker(HOLDER, { eval: true, workerData: { ints: memory.ints, said } })
  onTestFinished(() => void holder.terminate())
  await once(holder, 'message')
  for (let at = 0; at < memory.ints.length; at += 4) memory.ints[at] = 1
  Atomics.store(said, BEGUN, 1)
  Atomics.notify(said, BEGUN)
  expect(cells.change('key', ({ numbers, at }) => [Atomics.load(said, FREED), numbers[at]])).toEqual([1, 7])
})

it('a lock whose thread has ended is taken at last', () => {
  const memory = allotCells(8, 2)
  const cells = new Cells({ memory, slot: 0 }, () => 0)
  for (let at = 0; at < memory.ints.length; at += 4) memory.ints[at] = 1
  expect(cells.change('key', () => 'in')).toBe('in')
})
