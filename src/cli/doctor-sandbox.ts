/** What doctor looks at for episodes: whether agents can be kept apart from this machine. */
import type { LoadedConfig } from '../config/index.ts'
import { sandboxProblem } from '../main.ts'
import type { Finding } from './finding.ts'

/** Nothing that keeps a service from serving, so never more than a warning. */
export async function checkSandbox(loaded: LoadedConfig, look = sandboxProblem): Promise<readonly Finding[]> {
  const problem = await look(loaded)
  if (problem === null) return [{ check: 'sandbox', state: 'ok', found: 'episodes of agents are kept apart from this machine' }]
  return [{ check: 'sandbox', state: 'warning', found: `code that a model writes is refused: ${problem}` }]
}
