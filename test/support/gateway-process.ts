/** A gateway as a process: its address on standard output. Its trainers have the machine, since on a busy one they would hardly run. */
import { startService } from '../../src/main.ts'
import { loadArguments } from './settings.ts'

const service = await startService(await loadArguments(process.argv.slice(2)), { trainersGiveWay: false })
process.once('SIGTERM', () => void service.close())
process.stdout.write(`${service.address}\n`)
