/** The command, run from its sources. */
import { main } from '../../src/cli/index.ts'

await main()
