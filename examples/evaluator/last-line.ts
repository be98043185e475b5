/** The smallest evaluator: scores 1 when the agent's last line is the task's answer. */
import { define } from '../../src/contract/index.ts'

export default define('evaluator', {
  async score({ data }, { exitCode, stdout }) {
    const said = stdout.trimEnd().split('\n').at(-1)?.trim()
    return exitCode === 0 && said === data?.['answer'] ? 1 : 0
  },
})
