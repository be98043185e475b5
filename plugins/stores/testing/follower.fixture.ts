/** A thread that joins the store of its parent and follows it; it shows what it knows when asked. */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import postgres from '../postgres/index.ts'
import sqlite from '../sqlite/index.ts'
import { Projection } from './projection.ts'

const STORES = { sqlite, postgres }
export type FollowedStore = keyof typeof STORES

const { port, name }: { readonly port: MessagePort; readonly name: FollowedStore } = workerData
const store = await STORES[name].plugin.join?.(port)
if (store === undefined) throw new Error('the store of this thread cannot be joined')
const projection = new Projection(store)
parentPort?.on('message', () => void projection.shown().then((views) => parentPort?.postMessage(views, [])))
parentPort?.postMessage('ready', [])
