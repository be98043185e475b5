/** The service as a process of its own: settings as on the command line, its address on standard output, stopped by SIGTERM. */
import { loadConfig, readCommandLine } from '../../src/config/index.ts'
import { startService } from '../../src/main.ts'

const commandLine = readCommandLine(process.argv.slice(2))
const loaded = await loadConfig({ commandLine, environment: {}, probe: () => Promise.resolve(null) })
const service = await startService(loaded)
process.once('SIGTERM', () => void service.close())
process.stdout.write(`${service.address}\n`)
