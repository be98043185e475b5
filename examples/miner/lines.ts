/** The smallest miner: each line of a file is a question and its answer. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { define } from '../../src/contract/index.ts'

export default define('miner', {
  make: () => ({
    async *mine({ source, known, signal }) {
      for (const line of new Set((await readFile(source, { encoding: 'utf8', signal })).split('\n'))) {
        const [prompt = '', answer = ''] = line.split('\t')
        const origin = `line:${createHash('sha256').update(line).digest('hex')}`
        if (answer === '' || known.has(origin)) continue
        yield { name: `line-${origin.slice(5, 17)}`, prompt, data: { answer }, origin, module: 'lines' }
      }
    },
  }),
})
