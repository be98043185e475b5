/** Here it computes on the processor: which of the two it is makes no difference to how a trial is run and how it fails. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { sharedFolder } from '../support/folder.ts'
import { randomModel, withLlama } from './support/llama.ts'
import { tryCard } from '../../plugins/runtimes/llama/card-trial.ts'

const folder = sharedFolder()
beforeAll(withLlama)

it('computes a token with the model', async () => {
  await expect(tryCard(await randomModel(join(folder, `it's a "model"`)))).resolves.toBeUndefined()
})

it('says what to do where the process that tries ends in any other way', async () => {
  const broken = join(folder, 'broken.gguf')
  await writeFile(broken, 'GGUF')
  await expect(tryCard(broken)).rejects.toThrow('set inference.engine.gpu: off, or update the driver')
})
