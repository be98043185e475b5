/** A temporary adapter folder for the test engines, whose effect depends on one number. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/folder.ts'

const WEIGHT_BYTES = 64

export async function adapterFolder(weights: number): Promise<string> {
  const directory = temporaryFolder()
  await writeFile(join(directory, 'adapter_config.json'), JSON.stringify({ peft_type: 'LORA', r: 1 }))
  await writeFile(join(directory, 'adapter_model.safetensors'), Buffer.alloc(WEIGHT_BYTES, weights))
  return directory
}
