/** The thread that looks for credentials in the texts of one proposal. */
import { parentPort, workerData } from 'node:worker_threads'
import { isCredential } from './screens.ts'

const texts: readonly string[] = workerData
parentPort?.postMessage(texts.filter(isCredential), [])
