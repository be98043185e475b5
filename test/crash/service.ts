/** The service as a process of its own: settings as on the command line, its address on standard output, stopped by SIGTERM. */
import { startService } from '../../src/main.ts'
import { loadArguments } from '../support/settings.ts'

const service = await startService(await loadArguments(process.argv.slice(2)))
process.once('SIGTERM', () => void service.close())
process.stdout.write(`${service.address}\n`)
